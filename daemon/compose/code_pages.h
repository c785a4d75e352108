/* code_pages.h - gives back what starting has touched of the program and its libraries. */
#pragma once

/* Takes the pages of code and constants of everything that is loaded out of our page tables. They
 * stay in the page cache, for the kernel to keep or reclaim; what is needed again is mapped again
 * when it is touched. Any thread, any time; what is modified is left alone. A breakpoint or uprobe
 * that was set in such a page is lost. */
void code_pages_give_back(void);
