// place.js - the view that the address names, "#port/mlx5_0/1", so that it can be pasted elsewhere.

function placeLink(...words) {
	return `#${words.map((word) => encodeURIComponent(word)).join('/')}`;
}

// The words after "#": ["port", "mlx5_0", "1"]. What is no address of ours names the first view.
function placeWords(hash) {
	try {
		return hash.replace(/^#/, '').split('/').filter(Boolean).map(decodeURIComponent);
	} catch {
		return [];
	}
}
