// config.js - the configuration in effect, and what doctor has to say of rocelet's own work.

// Keys as they stand in the file; what has keys of its own is shown as it is written.
function configRows(document) {
	return Object.entries(document).map(([key, value]) => [key, value !== null && typeof value === 'object' ? make('pre', {tabindex: '0', 'aria-label': key}, shownLines(JSON.stringify(value, null, 2)))
		: make('code', {}, value === null ? '–' : shown(JSON.stringify(value)))]);
}

function shownLines(text) {
	return text.split('\n').map(shown).join('\n');
}

class ConfigView {
	constructor(page) {
		this.page = page;
		this.findings = make('ul', {});
		this.keys = make('dl', {class: 'keys'});
		this.none = make('p', {});
		this.element = make('div', {}, make('section', {'aria-labelledby': 'doctor-title'}, make('h2', {id: 'doctor-title'}, 'What is wrong with rocelet’s own work'), this.findings),
			make('section', {'aria-labelledby': 'config-title'}, make('h2', {id: 'config-title'}, 'Configuration in effect'), this.none, this.keys));
	}

	show() {
		const config = this.page.documents.get('api/v1/config', ['config']);
		const doctor = this.page.documents.get('api/v1/doctor', ['config', 'resources', 'attachments', 'devices']);
		const said = JSON.stringify([config, doctor, this.page.documents.errorOf('api/v1/doctor')]);
		if (this.said === said)
			return;
		this.said = said;
		setText(this.none, config ? '' : this.page.missing('api/v1/config', config, ''));
		this.keys.replaceChildren(...configRows(config ?? {}).map(([key, value]) => make('div', {}, make('dt', {}, shown(key)), make('dd', {}, value))));
		this.showFindings(doctor);
	}

	showFindings(doctor) {
		const lines = (doctor?.findings ?? []).map((f) => make('li', {}, make('strong', {}, shown(f.object ?? f.kind)), `: ${shown(f.what)}`, f.help ? ` – ${shown(f.help)}` : ''));
		this.findings.replaceChildren(...lines.length ? lines : [make('li', {}, this.page.missing('api/v1/doctor', doctor, 'nothing'))]);
	}

	title() {
		return 'configuration';
	}

	done() {}
}
