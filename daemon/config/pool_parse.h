/* pool_parse.h - what the readers behind pool_config.h and networks.h share. For nobody
 * else. Pure.
 *
 * A grammar is a few tables of keys; each key has a reader that checks a JSON value and stores it.
 * Keys are compared without case, as Go's encoding/json does; null counts as absent, as there.
 * Readers return 0 or a negative errno with the sentence in parse->err. */
#pragma once

#include <jansson.h>

#include "config_json.h"
#include "pool_config.h"

/* More resources than a node can sensibly have; keeps the time for a hostile file bounded. */
#define POOLS_MAX 256

struct parse {
	/* For messages. text NULL: it has no lines, messages name the way to the value. */
	const char *file, *text;
	size_t len;
	options_warn_fn *warn;
	void *arg;
	unsigned n_warnings;
	bool strict;		       /* an unknown key is an error */
	bool forgiving;		       /* of a key that stands twice the last counts */
	const struct options *options; /* NULL = none */
	const struct parse_key *key;   /* that is being read, for readers of several */
	struct pool_config *config;
	struct err *err;
};

typedef int parse_read_fn(struct parse *, const struct json_place *, const json_t *, void *field);

struct parse_key {
	const char *name;
	parse_read_fn *read; /* NULL: a known key that its grammar looks up itself */
	size_t offset;	     /* of the field in the target */
};

#define PARSE_KEY(name, read, type, field)                                                         \
	{                                                                                          \
		name, read, offsetof(type, field)                                                  \
	}

/* -EINVAL and in parse->err 'file:line: "key": sentence', without text 'file: entry 2: key:
 * sentence'. */
__attribute__((format(printf, 3, 4))) int parse_fail(struct parse *, const struct json_place *,
						     const char *fmt, ...);
int parse_no_memory(struct parse *);
/* The same as a warning. After the first WARNINGS_MAX the others are only counted. */
__attribute__((format(printf, 3, 4))) void parse_warn(struct parse *, const struct json_place *,
						      const char *fmt, ...);
/* The same, for config->doubt: what is not faint goes before what is, else the first counts. */
__attribute__((format(printf, 4, 5))) void parse_doubt(struct parse *, const struct json_place *,
						       bool faint, const char *fmt, ...);
/* Tells how many warnings were only counted. */
void parse_warnings_end(struct parse *);

/* Stores every key of the object; unknown ones are warned about, or refused if strict. */
int parse_object(struct parse *, const struct json_place *, const json_t *,
		 const struct parse_key *, size_t n, void *target);
/* A key that an object has in two spellings: -EINVAL, or a warning that the last one counts. */
int parse_twice(struct parse *, const struct json_place *, bool forgiving);

/* Reads each element of a list into the same field. what: "a list of strings", which it must be. */
int parse_each(struct parse *, const struct json_place *, const json_t *list, const char *what,
	       parse_read_fn *, void *field);
/* A key that stands there although its kind of pool has no use for it. */
int parse_refuse(struct parse *, const struct json_place *, const json_t *item, const char *key,
		 const char *sentence);

/* Readers. */
parse_read_fn parse_bool;  /* bool */
parse_read_fn parse_words; /* struct word_list */
/* An integer from min to max. */
int parse_count(struct parse *, const struct json_place *, const json_t *, uint32_t min,
		uint32_t max, uint32_t *ret);
/* One of the words; its index. */
int parse_choice(struct parse *, const struct json_place *, const json_t *,
		 const char *const *words, size_t n, unsigned *ret);
/* A word of a list in the form in which it is compared: NULL, or what is wrong with it.
 * canonical: PARSE_WORD_SIZE bytes; left alone = as it stands. */
#define PARSE_WORD_SIZE 64
typedef const char *parse_word_fn(const char *word, char *canonical);
int parse_word_list(struct parse *, const struct json_place *, const json_t *, struct word_list *,
		    parse_word_fn *);
int word_list_add(struct word_list *, const char *word);

/* An object that is written. jansson's setters take NULL for "out of memory" and fail; one look at
 * the end is enough. */
struct json_writer {
	json_t *object;
	bool failed;
};
/* Both take the value. */
void json_put(struct json_writer *, const char *key, json_t *value);
void json_append(struct json_writer *, json_t *array, json_t *value);
/* NULL: out of memory, and the object is freed. */
json_t *json_finish(struct json_writer *);

/* pool_config_keep.c: frees what the pool owns. */
void pool_done(struct pool *);

/* pool_config_selectors.c: the key "selectors" of item, an object or a list of them. */
extern const struct parse_key selector_keys_net[], selector_keys_aux[], selector_keys_accelerator[],
	selector_keys_shared[], selector_keys_native[];
/* strict: an unknown key is an error. */
int parse_selectors(struct parse *, const struct json_place *, const json_t *item, struct pool *,
		    const struct parse_key *keys, bool strict);
/* The first driver of the list under which a function has neither netdev nor RDMA device. */
const char *user_space_driver(const struct word_list *drivers);
extern const char *const device_type_words[3], *const vdpa_words[3];

/* pool_config_native.c: how long each reason of "hold" holds unless told. */
void hold_defaults(struct hold_times[N_HEALTH_REASONS]);

/* pool_config_network.c: the keys "network", "softRoce" and "interface" of item, for a pool whose
 * kind and other keys are known. Sets pool->network if one of them is there. */
int parse_network(struct parse *, const struct json_place *, const json_t *item, struct pool *);
/* Puts the three keys into the pool's object. */
void network_print(struct json_writer *pool, const struct pool_network *);

/* A grammar that is a list of pools. read: one of them into *pool, in which what the grammars agree
 * on is set, and name and prefix are known. */
struct pool_grammar {
	const char *prefix; /* unless the file or the options say another */
	bool peers;	    /* a wrong resource is refused alone, and not the whole file */
	int (*read)(struct parse *, const struct json_place *, const json_t *item, struct pool *);
};
extern const struct pool_grammar grammar_native;
/* pool_config_peers.c */
extern const struct pool_grammar grammar_resource_list, grammar_config_list;
parse_read_fn parse_interval;
/* "mode", into a pool of which nothing is known but what the grammars agree on. */
int parse_mode(struct parse *, const struct json_place *mode_at, const json_t *root, struct pool *);
/* What pools of ours and sriov-network-device-plugin's have in common. */
parse_read_fn parse_device_type, parse_extra;
/* bool pool.nics_only, which the file says the other way round. */
parse_read_fn parse_sub_functions;
