// The values that the browser stores as JSON: in localStorage for all tabs, in sessionStorage for one tab.

/**
 * The value stored under a key. It is null if there is none, or if it does not have the form of the sample: then it is
 * damaged, or a different version of this page has written it.
 *
 * @param {Storage} storage
 * @param {string} key
 * @param {*} sample a value of the same form. An object may have more fields than the sample; a field "*" stands for all
 *   fields. The items of an array have the form of the sample's first item.
 */
export function read(storage, key, sample) {
  try {
    const value = JSON.parse(storage.getItem(key));
    return fits(value, sample) ? value : null;
  } catch {
    return null;
  }
}

/** Store a value, and return whether the browser had room for it. */
export function write(storage, key, value) {
  try {
    storage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

function fits(value, sample) {
  if (value === null || typeof value !== typeof sample || Array.isArray(value) !== Array.isArray(sample)) return false;
  if (Array.isArray(sample)) return value.every((item) => fits(item, sample[0]));
  if (typeof sample !== "object") return true;
  return Object.entries(sample).every(([name, field]) =>
    (name === "*" ? Object.values(value) : [value[name]]).every((each) => fits(each, field)),
  );
}
