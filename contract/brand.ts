/** The default brand. */
export const houseBrand = '#21489c';

/** Brands lighter than this keep a bright button with a dark label; the rest get a deep one with a white label. */
export const litFrom = 0.66;
