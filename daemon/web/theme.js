// SPDX-License-Identifier: Apache-2.0
// theme.js - light or dark: the user's choice, or else the system's, which the style sheet follows by itself. The runbook has it, too.

const darkSystem = window.matchMedia('(prefers-color-scheme: dark)');

// Local storage may be disabled.
function remembered(name) {
	try {
		return localStorage.getItem(`rocelet ${name}`);
	} catch {
		return null;
	}
}

function remember(name, value) {
	try {
		localStorage.setItem(`rocelet ${name}`, value);
	} catch {
		// The choice lasts until the page is closed.
	}
}

function applyTheme() {
	const chosen = remembered('theme');
	if (chosen === 'light' || chosen === 'dark')
		document.documentElement.setAttribute('data-theme', chosen);
}

function isDark() {
	const chosen = document.documentElement.getAttribute('data-theme');
	return chosen ? chosen === 'dark' : darkSystem.matches;
}

function switchTheme() {
	const next = isDark() ? 'light' : 'dark';
	remember('theme', next);
	document.documentElement.setAttribute('data-theme', next);
}

// The value of a CSS variable, for canvas drawing.
function tokenColour(name) {
	const probe = byId('probe');
	probe.style.color = `var(${name})`;
	return getComputedStyle(probe).color;
}

applyTheme();
