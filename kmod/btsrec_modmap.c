// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module map: which module's code was where.  A module notifier keeps it;
 * the modules that were there before come from the kset of /sys/module.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "btsrec.h"
#include "btsrec_compat.h"

#define NR_SLOTS	(BTSREC_NR_MODULE_PAGES * BTSREC_MODULES_PER_PAGE)

/* The map has one writer at a time.  kset->list_lock nests inside. */
static DEFINE_MUTEX(map_mutex);

#define NOTE_HEAD_BYTES	(4 * sizeof(u32))
#define NOTE_BUILD_ID	3
#define NOTE_ID_BYTES	20	/* SHA-1 */

/*
 * The head of an ELF note with a build id.  Word by word: an array to compare with
 * would lie in this module's own read-only data and be found there.  Without
 * KASAN, because what lies between two variables is looked at, too.
 */
static __no_kasan_or_inline bool is_build_id_head(const u32 *words)
{
	return words[0] == 4 && words[1] == NOTE_ID_BYTES && words[2] == NOTE_BUILD_ID &&
	       words[3] == 0x00554e47 /* "GNU" */;
}

/*
 * The kernel keeps a module's .note.gnu.build-id section among its read-only data, but no public
 * pointer to it.  So it is looked for by its header.
 */
static void fill_build_id(struct btsrec_module *slot, const struct module *mod)
{
	u64 rodata_bytes, at;
	const u8 *rodata = btsrec_module_rodata(mod, &rodata_bytes);

	for (at = 0; at + NOTE_HEAD_BYTES + NOTE_ID_BYTES <= rodata_bytes; at += sizeof(u32)) {
		if (!is_build_id_head((const u32 *)(rodata + at)))
			continue;
		memcpy(slot->build_id, rodata + at + NOTE_HEAD_BYTES, NOTE_ID_BYTES);
		slot->build_id_bytes = NOTE_ID_BYTES;
		return;
	}
}

static struct btsrec_module *find_slot(const struct module *mod)
{
	u32 i;

	for (i = 0; i < btsrec_root_page->nr_modules; i++) {
		struct btsrec_module *slot = btsrec_module_slot(i);

		if (slot->state == BTSREC_MODULE_LIVE && slot->module_kva == (u64)mod)
			return slot;
	}
	return NULL;
}

/* A never used slot, else the first one of a module that is gone, else NULL. */
static struct btsrec_module *new_slot(void)
{
	u32 i;

	if (btsrec_root_page->nr_modules < NR_SLOTS)
		return btsrec_module_slot(btsrec_root_page->nr_modules++);
	for (i = 0; i < NR_SLOTS; i++) {
		struct btsrec_module *slot = btsrec_module_slot(i);

		if (slot->state == BTSREC_MODULE_GONE)
			return slot;
	}
	return NULL;
}

static void add_module(struct module *mod)
{
	struct btsrec_module *slot;

	if (find_slot(mod))
		return;
	slot = new_slot();
	if (!slot) {
		btsrec_root_page->nr_modules_lost++;
		return;
	}
	memset(slot, 0, sizeof(*slot));
	slot->text_kva = (u64)btsrec_module_text(mod, &slot->text_bytes);
	slot->module_kva = (u64)mod;
#ifdef CONFIG_KALLSYMS
	slot->kallsyms_kva = (u64)&mod->core_kallsyms;
#endif
	fill_build_id(slot, mod);
	strscpy(slot->name, mod->name, sizeof(slot->name));
	smp_wmb();	/* the state after the last field */
	WRITE_ONCE(slot->state, BTSREC_MODULE_LIVE);
}

/**
 * btsrec_modmap_copy() - copy the module map
 * @pas: its pages
 *
 * May sleep.
 */
void btsrec_modmap_copy(const u64 *pas)
{
	u32 i;

	mutex_lock(&map_mutex);
	for (i = 0; i < BTSREC_NR_MODULE_PAGES; i++)
		copy_page(__va(pas[i]), __va(btsrec_root_page->module_pa[i]));
	mutex_unlock(&map_mutex);
}

static int on_module_change(struct notifier_block *nb, unsigned long state, void *data)
{
	struct btsrec_module *slot;

	mutex_lock(&map_mutex);
	if (state == MODULE_STATE_COMING) {
		add_module(data);
	} else if (state == MODULE_STATE_GOING) {
		slot = find_slot(data);
		if (slot)
			WRITE_ONCE(slot->state, BTSREC_MODULE_GONE);
	}
	mutex_unlock(&map_mutex);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = {
	.notifier_call = on_module_change,
};

/*
 * A module's kobject is in the kset as long as its struct module exists: the
 * kernel takes it out before it frees the module.  A module that goes while
 * this walks is marked GONE by the notifier, which waits for map_mutex.
 */
static void add_loaded_modules(void)
{
	struct kset *kset = THIS_MODULE->mkobj.kobj.kset;
	struct kobject *kobj;

	spin_lock(&kset->list_lock);
	list_for_each_entry(kobj, &kset->list, entry) {
		struct module *mod = container_of(kobj, struct module_kobject, kobj)->mod;

		if (mod && (mod->state == MODULE_STATE_LIVE || mod->state == MODULE_STATE_COMING))
			add_module(mod);
	}
	spin_unlock(&kset->list_lock);
}

/**
 * btsrec_modmap_register() - fill the module map and keep it up to date
 *
 * Return: 0, or what register_module_notifier() says, after a printed sentence.
 */
int btsrec_modmap_register(void)
{
	int err = register_module_notifier(&module_notifier);

	if (err) {
		pr_err("Not loaded: cannot be notified of modules that come and go (error %d); %s.\n",
		       err, btsrec_remedy(err, "try again"));
		return err;
	}
	mutex_lock(&map_mutex);
	add_loaded_modules();
	mutex_unlock(&map_mutex);
	return 0;
}

/**
 * btsrec_modmap_unregister() - leave the map as it is
 */
void btsrec_modmap_unregister(void)
{
	unregister_module_notifier(&module_notifier);
}
