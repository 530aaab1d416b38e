// Says what the address held on arrival: a fragment is known to the browser alone.
const arrival = document.getElementById('arrival');
if (arrival && location.search + location.hash !== '') {
  const place = document.createElement('code');
  place.textContent = location.search + location.hash;
  arrival.append('You arrived with ', place);
}
