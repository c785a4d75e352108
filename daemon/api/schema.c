// SPDX-License-Identifier: Apache-2.0
#include "schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "schema_about.h"

#define PORT_NAME  "device:s port:i "
#define HOLDER	   "namespace:s? pod:s? container:s? "
#define TIMES	   "time:t? timeMs:i? "
#define TROUBLE	   "kind:s word:s severity:s level:i ofPf:b since:t? orEarlier:b what:s? help:s? "
#define PCIE_SPEED "speed:i maxSpeed:i width:i maxWidth:i "
#define VERDICT                                                                                        \
	PORT_NAME                                                                                      \
	"netdev:s? function:s? cause:s rule:s severity:s level:i "                                     \
	"onset:t? onsetMs:i beforeStart:b lastSeen:t? firstMoved:s? firstSignal:s? sameSample:b "      \
	"clearingSinceMs:i? evidence:[Evidence] pods:[VerdictPod] podCount:i causedBy:[VerdictPod] "   \
	"peer:s? managementPort:b symptoms:[s] sentence:s remark:s? advice:s nodeAction:s disproof:s " \
	"runbook:s "

static const struct schema_object objects[] = {
	{"Error", "error:s"},
	{"Index", "node:s? version:s started:t? upSeconds:i? routes:[Route]"},
	{"Route", "path:s what:s query:[Parameter]"},
	{"Parameter", "name:s type:s what:s"},

	{"Devices", "generation:i rdmaNetnsMode:s? devices:[Device] resources:[Resource]"},
	{"Device", "id:s kind:s parent:s? vf:i? sf:i? driver:s? vendor:s? device:s? class:s? "
		   "numaNode:i? numVfs:i? totalVfs:i? pciPath:s? acpiIndex:i? vfio:s? uio:s? "
		   "vdpa:Vdpa? vfLinkState:s? unreachable:b devlinkError:s? netdevs:[Netdev] "
		   "rdma:[RdmaDevice] resources:[DeviceResource] notOffered:s? "
		   "attachment:Attachment? why:s?"},
	{"Vdpa", "driver:s? node:s?"},
	{"Netdev", "name:s altnames:[s] ifindex:i? netns:s? nsid:i? mac:s? mtu:i? operstate:s? "
		   "carrier:b? up:b master:s? portName:s? defaultRoute:b?"},
	{"RdmaDevice", "name:s index:i? driver:s? firmware:s? board:s? hcaType:s? nodeGuid:s? "
		       "sysImageGuid:s? netns:s? nsid:i? charDevices:CharDevices "
		       "ports:[RdmaPort]"},
	{"CharDevices", "uverbs:s? umad:s? issm:s? ucm:s?"},
	{"RdmaPort", "port:i state:s? physicalState:s? linkLayer:s? rateBitsPerSecond:i? "
		     "activeMtu:i? maxMtu:i? netdev:s? pkey:s? gidTableLength:i? gids:[Gid] "
		     "settings:Settings?"},
	{"Gid", "index:i gid:s type:s? netdev:s?"},
	{"Settings", "pfc:[i]? peerPfc:[i]? dscpTrusted:b? dscpPriorities:{i}? ets:Ets? "
		     "pause:Pause? dcbx:[s]? rdmaCm:RdmaCm? pcie:Pcie? slowSegments:[Segment]?"},
	{"Ets", "classes:[i] algorithms:[s?] percents:[i]"},
	{"Pause", "receives:b sends:b"},
	{"RdmaCm", "type:s? tos:i?"},
	{"Pcie", PCIE_SPEED},
	{"Segment", "bridge:s " PCIE_SPEED},
	{"DeviceResource", "resource:s id:s? shared:b healthy:b? reasons:[s]? unhealthySince:t? "
			   "orEarlier:b? state:s? "
			   "holder:Holder?"},
	{"Holder", "namespace:s? pod:s? uid:s? container:s?"},
	{"Attachment", "state:s resource:s? id:s? function:s? door:s " HOLDER
		       "uid:s? interface:s? name:s? rdma:s? ips:[s] mac:s? vlan:i? mtu:i? netns:s? "
		       "step:s? since:t? error:s? drift:[s]? tries:i"},
	{"Attachments", "attachments:[Attachment]"},

	{"Resources", "generation:i resources:[Resource]"},
	{"Resource",
	 "name:s shared:b devices:i healthy:i allocated:i? free:i? "
	 "gidCapacity:i? registration:s error:s? hint:s? registrations:i registrationFailures:i "
	 "listsSent:i"},

	{"Pods", "generation:i source:s? error:s? pods:[Pod]"},
	{"Pod", "namespace:s? name:s? uid:s? network:NetworkAnswer containers:[Container]"},
	{"NetworkAnswer", "answer:s why:s"},
	{"Container", "name:s? devices:[ContainerDevice]"},
	{"ContainerDevice", "resource:s? id:s rdma:s? watch:s? health:s? troubles:[Trouble] "
			    "attachment:Attachment?"},
	{"Trouble", TROUBLE},

	{"Events", "generation:i events:[Event]"},
	{"Event",
	 "type:s reason:s namespace:s? pod:s? pods:[VerdictPod] device:s? message:s? count:i first:t? "
	 "last:t?"},

	{"QueuePairs",
	 "source:s? ageSeconds:i? error:s? retries:b dropped:i flows:b qps:[QueuePair] "
	 "total:i"},
	{"QueuePair", "device:s? port:i? netdev:s? qpn:i address:s? peerQpn:i? peerAddress:s? "
		      "type:s? state:s? namespace:s? pod:s? uid:s? pid:i? comm:s? kernel:b? "
		      "mtu:i? trafficClass:i? dscp:i? ecn:i? timeout:i? retryCount:i? "
		      "rnrRetry:i? failure:s? received:Flow? sent:Flow?"},
	{"Flow",
	 "packets:i bytes:i ce:i cnp:i naks:i rnr:i retransmissions:i rtt:Rtt? lastSeen:t?"},
	{"Rtt", "count:i meanNs:i p50Ns:i? p99Ns:i?"},

	{"Diagnosis", TIMES "verdicts:[Verdict] undecided:[Undecided] notTheNetwork:[PortName] "
			    "ports:[WatchedPort] troubles:[DeviceTrouble] ended~:[EndedVerdict] "
			    "since~:t? until~:t? knownSince~:t?"},
	{"DeviceTrouble", "device:s rdma:s? netdev:s? " HOLDER TROUBLE},
	{"Verdict", VERDICT},
	{"EndedVerdict", VERDICT "ended:t? endedMs:i endedAs:s? explainedBy:s?"},
	{"Evidence", "name:s value:n? word:s? unit:s? threshold:n?"},
	{"VerdictPod", "namespace:s? name:s?"},
	{"Undecided", PORT_NAME "cause:s why:s"},
	{"PortName", PORT_NAME},
	{"WatchedPort", PORT_NAME "watch:s held:b clearSinceMs:i? resets:i ignoredRates:i"},

	{"Explanation", "device:s why:s? attachment:Attachment?"},
	{"Agent", "samples:i samplesSkipped:i everyMs:i sources:[Source] parts:[Part]"},
	{"Source", "name:s errors:i ageMs:i?"},
	{"Part", "name:s works:b? what:s why:s?"},
	{"Doctor", "findings:[Finding] unchecked:[s]"},
	{"Finding", "kind:s about:s object:s? namespace:s? pod:s? what:s help:s fixable:b"},

	{"Ports", TIMES "warmingMs:i ports:[Port]"},
	{"Port", PORT_NAME
	 "netdev:s? function:s? kind:s? parent:s? vf:i? driver:s? state:s? "
	 "linkLayer:s? rateBitsPerSecond:i? activeMtu:i? bytesIncludeVfs:b? watch:s watchedSinceMs:i? "
	 "clearSinceMs:i? resets:i ignoredRates:i " HOLDER "health:s? troubles:[Trouble] now:{n?}"},
	{"History", TIMES PORT_NAME "atMs:[i] signals:{[n?]}"},
	{"Counters", TIMES PORT_NAME "resets:i overMs:i counters:[Counter]"},
	{"Counter", "name:s type:s unit:s? ofDevice:b value:n? rate:n? help:s"},
	{"Histories", TIMES "stepMs:i atMs:[i] ports:[PortHistory]"},
	{"PortHistory", PORT_NAME "signals:{n?|[n?]}"},

	{"Live", "node:s? nowMs:i started:t? startedMs:i everyMs:i version:s "
		 "generations:Generations events:Events time~:t? timeMs:i? portsDigest~:i "
		 "signals~:[s] complete~:b rows~:[LiveRow] verdicts~:[Verdict] verdictCount~:i "
		 "problemCount~:i ended~:[EndedVerdict]"},
	{"Generations", "devices:i resources:i attachments:i settings:i config:i"},
	{"LiveRow", "atMs:i ports:[[s|n?]]"},
};

const struct schema_object *schema_object(size_t i)
{
	return i < ARRAY_SIZE(objects) ? &objects[i] : NULL;
}

/* --- types ------------------------------------------------------------------------------------ */

static json_t *schema_parse(const char **type);

static json_t *schema_plain(const char *name)
{
	return json_pack("{ss}", "type", name);
}

/* The schema of a type letter; NULL: not a type letter. */
static json_t *schema_letter(char letter)
{
	switch (letter) {
	case 's':
		return schema_plain("string");
	case 't':
		return json_pack("{ss ss}", "type", "string", "format", "date-time");
	case 'i':
		return schema_plain("integer");
	case 'n':
		return schema_plain("number");
	case 'b':
		return schema_plain("boolean");
	case '*':
		return json_object();
	}
	return NULL;
}

static json_t *schema_reference(const char **type)
{
	size_t len = strcspn(*type, "]}?| ");
	char text[96];

	snprintf(text, sizeof(text), "#/components/schemas/%.*s", (int)len, *type);
	*type += len;
	return json_pack("{ss}", "$ref", text);
}

/* Parses the type inside brackets; the opening one has been consumed. */
static json_t *schema_inner(const char **type, char end)
{
	json_t *inner = schema_parse(type);

	if (!inner || **type != end) {
		json_decref(inner);
		return NULL;
	}
	(*type)++;
	return inner;
}

static json_t *schema_one(const char **type)
{
	char c = **type;

	if (c >= 'A' && c <= 'Z')
		return schema_reference(type);
	if (c == '\0')
		return NULL;
	(*type)++;
	if (c == '[')
		return json_pack("{ss so}", "type", "array", "items", schema_inner(type, ']'));
	if (c == '{')
		return json_pack("{ss so}", "type", "object", "additionalProperties",
				 schema_inner(type, '}'));
	return schema_letter(c);
}

static json_t *schema_or(json_t *a, json_t *b)
{
	return json_pack("{s[oo]}", "anyOf", a, b);
}

/* {"type":["string","null"]} for a plain type, else a choice of two schemas. */
static json_t *schema_or_null(json_t *schema)
{
	const char *name = json_string_value(json_object_get(schema, "type"));

	if (!name)
		return schema_or(schema, schema_plain("null"));
	json_object_set_new(schema, "type", json_pack("[ss]", name, "null"));
	return schema;
}

static json_t *schema_parse(const char **type)
{
	json_t *schema = schema_one(type);

	if (schema && **type == '?') {
		(*type)++;
		schema = schema_or_null(schema);
	}
	if (schema && **type == '|') {
		(*type)++;
		schema = schema_or(schema, schema_parse(type));
	}
	return schema;
}

json_t *schema_of_type(const char *type)
{
	json_t *schema = schema_parse(&type);

	if (*type == '\0')
		return schema;
	json_decref(schema);
	return NULL;
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Returns the unit of a name, by its suffix; NULL: none. */
static const char *schema_unit(const char *name, size_t len)
{
	static const struct {
		const char *end, *unit;
	} units[] = {
		{"Ms", "ms"},	  {"Ns", "ns"},		  {"Seconds", "s"},
		{"Bps", "bit/s"}, {"PerSecond", "bit/s"}, {"bytes", "B"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t n = strlen(units[i].end);

		if (len >= n && memcmp(name + len - n, units[i].end, n) == 0)
			return units[i].unit;
	}
	return NULL;
}

/* Limits a text, or each text of a list, to the words; null stays possible. */
static void schema_limit(json_t *schema, const struct schema_about *about)
{
	json_t *items = json_object_get(schema, "items"), *texts = items ? items : schema;
	json_t *words = json_array();
	const char *word;

	for (int i = 0; i < about->n_words; i++)
		if ((word = about->word(i)) && *word)
			json_array_append_new(words, json_string(word));
	if (json_is_array(json_object_get(texts, "type")))
		json_array_append_new(words, json_null());
	json_object_set_new(texts, "enum", words);
}

static void schema_describe(json_t *schema, const char *object, const char *member)
{
	const struct schema_about *about = schema_about(object, member);

	if (about)
		json_object_set_new(schema, "description", json_string(about->what));
	if (about && about->word)
		schema_limit(schema, about);
}

/* Adds the next member and advances. False: syntax error in the table. */
static bool schema_member(const char *object, const char **members, json_t *properties,
			  json_t *required)
{
	size_t len = strcspn(*members, ":"), n = len;
	bool optional = len > 0 && (*members)[len - 1] == '~';
	const char *unit, *type = *members + len + 1;
	json_t *schema;
	char name[64];

	if ((*members)[len] != ':')
		return false;
	n -= optional;
	snprintf(name, sizeof(name), "%.*s", (int)n, *members);
	schema = schema_parse(&type);
	unit = schema_unit(name, n);
	if (schema && unit)
		json_object_set_new(schema, "x-unit", json_string(unit));
	if (schema)
		schema_describe(schema, object, name);
	if (json_object_set_new(properties, name, schema) < 0)
		return false;
	if (!optional)
		json_array_append_new(required, json_string(name));
	*members = type + strspn(type, " ");
	return *type == ' ' || *type == '\0';
}

json_t *schema_of_object(const struct schema_object *object)
{
	json_t *properties = json_object(), *required = json_array();
	const char *members = object->members;
	bool ok = properties && required;

	while (ok && *members)
		ok = schema_member(object->name, &members, properties, required);
	/* Open: later versions may add keys. */
	if (ok)
		return json_pack("{ss so so}", "type", "object", "properties", properties,
				 "required", required);
	json_decref(properties);
	json_decref(required);
	return NULL;
}
