// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsuart: a console with a driver that waits for each character, as that of a UART
 * does at 115,200 baud, one bit of ten at a time.  What QEMU models is always
 * ready.
 */
#include <linux/console.h>
#include <linux/module.h>
#include <asm/processor.h>
#include <asm/tsc.h>

#define NS_PER_CHARACTER	86806

static u64 ready_tsc;

/* What a driver does: it asks until the transmitter is ready. */
static noinline void put(void)
{
	while (rdtsc() < ready_tsc)
		cpu_relax();
	ready_tsc = rdtsc() + (u64)tsc_khz * NS_PER_CHARACTER / 1000000;
}

static void write(struct console *console, const char *text, unsigned int length)
{
	while (length--)
		put();
}

static struct console console = {
	.name = "btsuart",
	.write = write,
	.flags = CON_ENABLED,
	.index = -1,
};

static int __init btsuart_init(void)
{
	register_console(&console);
	return 0;
}

static void __exit btsuart_exit(void)
{
	unregister_console(&console);
}

module_init(btsuart_init);
module_exit(btsuart_exit);
MODULE_DESCRIPTION("A console that waits for each character");
MODULE_LICENSE("GPL");
