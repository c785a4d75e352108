// SPDX-License-Identifier: Apache-2.0
// runbook.js - the bar of the runbook: the switch of the theme, and the current tab in sight.
document.addEventListener('DOMContentLoaded', () => {
	const button = document.getElementById('theme');
	button.hidden = false;
	button.addEventListener('click', switchTheme);
	document.querySelector('header [aria-current]').scrollIntoView({block: 'nearest', inline: 'center'});
});
