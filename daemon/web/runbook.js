// SPDX-License-Identifier: Apache-2.0
// runbook.js - the bar of the runbook: the switch of the theme, and the current tab in sight.
function showTab() {
	document.querySelector('header [aria-current]').scrollIntoView({block: 'nearest', inline: 'center'});
}

document.addEventListener('DOMContentLoaded', () => {
	const button = document.getElementById('theme');
	button.hidden = false;
	button.addEventListener('click', switchTheme);
	addEventListener('resize', showTab);
	showTab();
});
