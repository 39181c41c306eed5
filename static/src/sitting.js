// Counts down the time of a sitting. The server decides when it is over; this only
// shows it, has what is typed saved in time, and looks at the sitting when it is.

const early = 2; // seconds before the end at which the last save begins
const patience = 4000; // ms for the answers, less than the server's grace

const timer = document.querySelector("[role=timer][data-left]");
if (timer) {
	// performance.now() goes on when somebody sets the clock of the machine.
	const end = performance.now() + Number(timer.dataset.left) * 1000;
	const two = (n) => String(n).padStart(2, "0");
	let asked = false;

	// The editor adds what it has to wait for.
	function saved() {
		const answers = [];
		document.dispatchEvent(new CustomEvent("sitting-ends", { detail: answers }));
		return Promise.allSettled(answers);
	}

	function show() {
		const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
		timer.textContent = `${Math.floor(left / 60)}:${two(left % 60)}`;
		timer.classList.toggle("is-soon", left < 300);
		if (left > 0) {
			if (left <= early && !asked) {
				asked = true;
				saved();
			}
			// Each look is at a whole second before the end.
			return void setTimeout(show, (end - performance.now()) % 1000 || 1000);
		}
		const enough = new Promise((done) => setTimeout(done, patience));
		Promise.race([saved(), enough]).then(() => location.assign(timer.dataset.over));
	}

	// A page from the history of the browser may be hours old.
	addEventListener("pageshow", (e) => e.persisted && location.reload());
	show();
}
