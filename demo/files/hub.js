// Says what the address held on arrival: a fragment is known to the browser alone.
const arrival = document.getElementById('arrival');
if (arrival && location.search + location.hash !== '')
  arrival.textContent = `You arrived with ${location.search}${location.hash}.`;
