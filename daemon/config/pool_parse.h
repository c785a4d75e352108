/* SPDX-License-Identifier: Apache-2.0 */
/* pool_parse.h - tools of the readers that implement pool_config.h and networks.h; private to them.
 * Pure.
 *
 * A grammar is a few tables of keys; each key has a reader that checks a JSON value and stores it.
 * Keys are compared ignoring case, and null counts as absent, as in Go's encoding/json. Readers
 * return 0 or a negative errno with the message in parse->err. */
#pragma once

#include <jansson.h>

#include "config_json.h"
#include "pool_config.h"

/* More resources than a node can sensibly have; limits the time for a malicious file. */
#define POOLS_MAX 256

struct parse {
	/* For messages. text NULL: messages have the path of the value instead of a line. */
	const char *file, *text;
	size_t len;
	options_warn_fn *warn;
	void *arg;
	unsigned n_warnings;
	bool strict;		       /* an unknown key is an error */
	bool forgiving;		       /* the last of duplicate keys counts */
	const struct options *options; /* NULL = none */
	const struct parse_key *key;   /* the key being read, set for readers that handle several
					* keys */
	struct pool_config *config;
	bool group_only;	      /* read only the group's own resources */
	const struct json_place *top; /* place of the object with the pools; NULL = the top */
	struct err *err;
};

typedef int parse_read_fn(struct parse *, const struct json_place *, const json_t *, void *field);

struct parse_key {
	const char *name;
	parse_read_fn *read; /* NULL: a known key that its grammar reads itself */
	size_t offset;	     /* offset of the field in the target */
};

#define PARSE_KEY(name, read, type, field)                                                         \
	{                                                                                          \
		name, read, offsetof(type, field)                                                  \
	}

/* Returns -EINVAL and sets parse->err to 'file:line: "key": message', or without text to 'file:
 * entry 2: key: message'. */
__attribute__((format(printf, 3, 4))) int parse_fail(struct parse *, const struct json_place *,
						     const char *fmt, ...);
int parse_no_memory(struct parse *);
/* Writes the message that parse_fail() sets. */
__attribute__((format(printf, 5, 6))) void parse_sentence(const struct parse *,
							  const struct json_place *, char *ret,
							  size_t size, const char *fmt, ...);
/* Like parse_fail(), but a warning. After WARNINGS_MAX, further warnings are only counted. */
__attribute__((format(printf, 3, 4))) void parse_warn(struct parse *, const struct json_place *,
						      const char *fmt, ...);
/* Like parse_fail(), but sets config->mistake, which keeps the first mistake that is not weak, or
 * else the first one. */
__attribute__((format(printf, 4, 5))) void parse_mistake(struct parse *, const struct json_place *,
							 bool weak, const char *fmt, ...);
/* Reports how many warnings were only counted. */
void parse_warnings_end(struct parse *);

/* Stores every key of the object; unknown ones are warnings, or errors if strict. */
int parse_object(struct parse *, const struct json_place *, const json_t *,
		 const struct parse_key *, size_t n, void *target);
/* Reports a key that an object has in two spellings: -EINVAL, or, if forgiving, a warning that the
 * last one counts. */
int parse_twice(struct parse *, const struct json_place *, bool forgiving);

/* Reads each element of a list into the same field. what: the required type for messages, "a list
 * of strings". */
int parse_each(struct parse *, const struct json_place *, const json_t *list, const char *what,
	       parse_read_fn *, void *field);
/* Rejects a key that does not apply to this kind of pool. */
int parse_reject(struct parse *, const struct json_place *, const json_t *item, const char *key,
		 const char *sentence);

/* Readers. */
parse_read_fn parse_bool;  /* bool */
parse_read_fn parse_words; /* struct word_list */
/* Parses an integer from min to max. */
int parse_count(struct parse *, const struct json_place *, const json_t *, uint32_t min,
		uint32_t max, uint32_t *ret);
/* Parses one of the words, and returns its index. */
int parse_choice(struct parse *, const struct json_place *, const json_t *,
		 const char *const *words, size_t n, unsigned *ret);
/* Checks a word of a list and converts it to the form for comparison: returns NULL, or an error
 * message. canonical: PARSE_WORD_SIZE bytes; unchanged = use the word itself. */
#define PARSE_WORD_SIZE 64
typedef const char *parse_word_fn(const char *word, char *canonical);
int parse_word_list(struct parse *, const struct json_place *, const json_t *, struct word_list *,
		    parse_word_fn *);
int word_list_add(struct word_list *, const char *word);

/* Builds an object. jansson's setters fail if passed NULL, so one check for "out of memory" at the
 * end is enough. */
struct json_writer {
	json_t *object;
	bool failed;
};
/* Both take ownership of the value. */
void json_put(struct json_writer *, const char *key, json_t *value);
void json_append(struct json_writer *, json_t *array, json_t *value);
/* Returns the object. NULL: out of memory, and the object is freed. */
json_t *json_finish(struct json_writer *);

/* pool.c: frees the members of the pool. */
void pool_done(struct pool *);
/* Copies the pool with its members. -ENOMEM leaves *ret unchanged. */
int pool_copy(struct pool *ret, const struct pool *);

/* pool_config_selectors.c: reads the key "selectors" of item, an object or a list of them. */
extern const struct parse_key selector_keys_net[], selector_keys_aux[], selector_keys_accelerator[],
	selector_keys_shared[], selector_keys_native[];
/* Parses selectors. strict: an unknown key is an error. */
int parse_selectors(struct parse *, const struct json_place *, const json_t *item, struct pool *,
		    const struct parse_key *keys, bool strict);
/* Returns the first driver of the list with which a function has no netdev and no RDMA device. */
const char *user_space_driver(const struct word_list *drivers);
extern const char *const device_type_words[3], *const vdpa_words[3];

/* pool_config_native.c: the default hold times of each reason. */
void hold_defaults(struct hold_times[N_HEALTH_REASONS]);

/* pool_config_network.c: reads the keys "network", "softRoce" and "interface" of item, for a pool
 * whose kind and other keys are known. Sets pool->network if any is present. */
int parse_network(struct parse *, const struct json_place *, const json_t *item, struct pool *);
/* Adds the three keys to the pool's object. */
void network_print(struct json_writer *pool, const struct pool_network *);

/* A grammar that is a list of pools. read: parses one into *pool, which has the common defaults,
 * name and prefix. */
struct pool_grammar {
	const char *prefix; /* the default prefix */
	bool peers;	    /* an invalid resource is rejected alone, not the whole file */
	int (*read)(struct parse *, const struct json_place *, const json_t *item, struct pool *);
};
extern const struct pool_grammar grammar_native;
/* pool_config_peers.c */
extern const struct pool_grammar grammar_resource_list, grammar_config_list;
parse_read_fn parse_interval;
/* Reads "mode" into a pool that only has the common defaults. */
int parse_mode(struct parse *, const struct json_place *mode_at, const json_t *root, struct pool *);
/* Shared by our pools and those of sriov-network-device-plugin. */
parse_read_fn parse_device_type, parse_extra;
/* bool pool.nics_only, which is inverted in the file. */
parse_read_fn parse_sub_functions;
