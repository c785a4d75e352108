// SPDX-License-Identifier: Apache-2.0
#include "top_screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"

/* How long ncurses waits after Escape for the rest of an arrow key's code. */
#define ESCAPE_MS 50

static SCREEN *screen;

static void open_colours(void)
{
	start_color();
	use_default_colors();
	init_pair(TOP_GOOD, COLOR_GREEN, -1);
	init_pair(TOP_WARNING, COLOR_YELLOW, -1);
	init_pair(TOP_CRITICAL, COLOR_RED, -1);
}

/* ncurses restores the terminal on SIGINT and SIGTERM only, so raise SIGTERM for the others. */
static void top_screen_on_end(int signal)
{
	(void)signal;
	raise(SIGTERM);
}

static void catch_ends(void)
{
	static const int signals[] = {SIGHUP, SIGQUIT};
	const struct sigaction end = {.sa_handler = top_screen_on_end};
	struct sigaction old;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &end, NULL);
}

int top_screen_open(bool colours)
{
	setlocale(LC_CTYPE, "");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return -ENOTTY;
	catch_ends();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(ESCAPE_MS);
	if (colours && has_colors())
		open_colours();
	return 0;
}

void top_screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

bool top_screen_has_blocks(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void top_screen_size(size_t *ret_width, size_t *ret_height)
{
	int width = getmaxx(stdscr), height = getmaxy(stdscr);

	*ret_width = width > 0 ? (size_t)width : 0;
	*ret_height = height > 0 ? (size_t)height : 0;
}

void top_screen_clear(void)
{
	erase();
}

static attr_t attributes_of(enum top_style style)
{
	switch (style) {
	case TOP_PLAIN:
		break;
	case TOP_HEAD:
		return A_BOLD;
	case TOP_SELECTED:
		return A_REVERSE;
	case TOP_OLD:
		return A_DIM;
	case TOP_GOOD:
	case TOP_WARNING:
	case TOP_CRITICAL:
		return COLOR_PAIR(style);
	}
	return A_NORMAL;
}

void top_screen_put(size_t row, const char *text, enum top_style style, void *arg)
{
	(void)arg;
	if (row >= (size_t)getmaxy(stdscr))
		return;
	attrset(attributes_of(style));
	mvaddnstr((int)row, 0, text, -1);
	attrset(A_NORMAL);
}

void top_screen_show(void)
{
	refresh();
}

int top_screen_key(int wait_ms)
{
	int key;

	timeout(wait_ms);
	key = getch();
	switch (key) {
	case ERR:
	case KEY_RESIZE:
		return -1;
	case KEY_UP:
		return TOP_KEY_UP;
	case KEY_DOWN:
		return TOP_KEY_DOWN;
	case KEY_PPAGE:
		return TOP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TOP_KEY_PAGE_DOWN;
	case KEY_BACKSPACE:
		return TOP_KEY_BACKSPACE;
	case KEY_ENTER:
		return '\n';
	}
	return key;
}

bool top_screen_has_hung_up(void)
{
	struct pollfd input = {.fd = STDIN_FILENO}; /* POLLHUP is always reported */

	return poll(&input, 1, 0) > 0;
}
