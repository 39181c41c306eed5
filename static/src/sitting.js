// Counts down the time of a sitting. The server decides when it is over; this only
// shows it, and looks at the sitting when it is.

const timer = document.querySelector("[role=timer][data-left]");
if (timer) {
	// performance.now() goes on when somebody sets the clock of the machine.
	const end = performance.now() + Number(timer.dataset.left) * 1000;
	const two = (n) => String(n).padStart(2, "0");

	function show() {
		const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
		timer.textContent = `${Math.floor(left / 60)}:${two(left % 60)}`;
		timer.classList.toggle("is-soon", left < 300);
		if (left > 0) return void setTimeout(show, 1000 - (performance.now() % 1000));
		location.assign(timer.dataset.over);
	}

	// A page from the history of the browser may be hours old.
	addEventListener("pageshow", (e) => e.persisted && location.reload());
	show();
}
