"""The sentence frames of the pronoun curriculum: English, German, who fits in, and what tells whom “it” means.

Slots: `{a}` and `{b}` are the candidates, `{who}` a person, `{deg}` a degree word, `{cue}` what decides, `{it}` the
pronoun; in German with a case. Knows nothing of how sentences are drawn.
"""

from dataclasses import dataclass

from model.training.lexicon import CUES


@dataclass(frozen=True)
class Frame:
    """A pair of templates.

    Attributes:
        name: of the frame.
        english, german: the templates.
        kind_a, kind_b: which nouns stand for the candidates; with an empty `kind_b` there is one candidate.
        about_a, about_b: cues (English, German) that make “it” mean the first or the second.
    """

    name: str
    english: str
    german: str
    kind_a: str
    kind_b: str
    about_a: tuple[tuple[str, str], ...]
    about_b: tuple[tuple[str, str], ...]

    @property
    def degrees(self) -> tuple[tuple[str, str], ...]:
        """Words for `{deg}`, English and German: “too” is a reason against something."""
        is_negative = "n't" in self.english or "not" in self.english or "although" in self.english
        return NEGATIVE_DEGREES if is_negative else POSITIVE_DEGREES


GROUPS = {
    "@body": "tired hungry thirsty sick weak scared exhausted nervous lazy",
    "@feeling": "tired hungry thirsty sick exhausted nervous angry",
    "@path": "wide narrow slippery icy busy flooded muddy",
}
NEGATIVE_DEGREES = (("too", "zu"), ("too", "zu"), ("so", "so"), ("very", "sehr"))
POSITIVE_DEGREES = (("so", "so"), ("very", "sehr"), ("really", "wirklich"))

# name | English | German | kind of a, kind of b | cues about a | cues about b. “full=satt”: here “full” is “satt”.
TABLE = """
cross | {a} didn't cross {b} because it was {deg} {cue}. | {a.nom} überquerte {b.acc} nicht, weil {it.nom} {deg} {cue} war. | animal path | @body | @path
cross although | {a} crossed {b} although it was {deg} {cue}. | {a.nom} überquerte {b.acc}, obwohl {it.nom} {deg} {cue} war. | animal path | @body | @path
cross passive | {b} was not crossed by {a} because it was {deg} {cue}. | {b.nom} wurde von {a.dat} nicht überquert, weil {it.nom} {deg} {cue} war. | animal path | @body | @path
cross first | Because it was {deg} {cue}, {a} didn't cross {b}. | Weil {it.nom} {deg} {cue} war, überquerte {a.nom} {b.acc} nicht. | animal path | @body | @path
cross so | {b} was {deg} {cue}, so {a} didn't cross it. | {b.nom} war {deg} {cue}, deshalb überquerte {a.nom} {it.acc} nicht. | animal path | | @path
come to | When {a} came to {b}, it was {deg} {cue}. | Als {a.nom} zu {b.dat} kam, war {it.nom} {deg} {cue}. | animal path | @body | @path
drive across | {a} crossed {b} slowly because it was {deg} {cue}. | {a.nom} überquerte {b.acc} langsam, weil {it.nom} {deg} {cue} war. | vehicle path | heavy loaded broken | narrow slippery icy wet muddy flooded
not drive across | {a} couldn't cross {b} because it was {deg} {cue}. | {a.nom} konnte {b.acc} nicht überqueren, weil {it.nom} {deg} {cue} war. | vehicle path | heavy loaded slow | narrow slippery icy muddy flooded
swim | {a} couldn't swim across {b} because it was {deg} {cue}. | {a.nom} konnte nicht durch {b.acc} schwimmen, weil {it.nom} {deg} {cue} war. | animal water | tired weak sick exhausted scared young | wide deep polluted rough
sail | {a} couldn't sail on {b} because it was {deg} {cue}. | {a.nom} konnte nicht auf {b.dat} fahren, weil {it.nom} {deg} {cue} war. | boat water | heavy old loaded slow | shallow narrow rough frozen=zugefroren
jump | {a} couldn't jump over {b} because it was {deg} {cue}. | {a.nom} konnte nicht über {b.acc} springen, weil {it.nom} {deg} {cue} war. | animal barrier | tired weak sick lazy fat exhausted | high wide
jump although | {a} jumped over {b} although it was {deg} {cue}. | {a.nom} sprang über {b.acc}, obwohl {it.nom} {deg} {cue} war. | animal barrier | tired weak sick lazy fat exhausted | high wide
climb | {a} didn't climb {b} because it was {deg} {cue}. | {a.nom} kletterte nicht auf {b.acc}, weil {it.nom} {deg} {cue} war. | animal height | tired weak sick lazy scared hungry | steep high slippery smooth icy
drive up | {a} couldn't drive up {b} because it was {deg} {cue}. | {a.nom} kam {b.acc} nicht hinauf, weil {it.nom} {deg} {cue} war. | vehicle slope | weak heavy slow loaded old | steep icy slippery muddy
eat not | {a} didn't eat {b} because it was {deg} {cue}. | {a.nom} fraß {b.acc} nicht, weil {it.nom} {deg} {cue} war. | animal food | full=satt sick tired nervous scared | salty bitter sour spicy hot hard
eat | {a} ate {b} because it was {deg} {cue}. | {a.nom} fraß {b.acc}, weil {it.nom} {deg} {cue} war. | animal food | hungry greedy | sweet fresh delicious tasty juicy
eat passive | {b} was eaten by {a} because it was {deg} {cue}. | {b.nom} wurde von {a.dat} gefressen, weil {it.nom} {deg} {cue} war. | animal food | hungry greedy | sweet fresh delicious tasty juicy
drink | {a} drank {b} because it was {deg} {cue}. | {a.nom} trank {b.acc}, weil {it.nom} {deg} {cue} war. | animal drink | thirsty greedy exhausted | sweet fresh delicious cool tasty
drink not | {a} didn't drink {b} because it was {deg} {cue}. | {a.nom} trank {b.acc} nicht, weil {it.nom} {deg} {cue} war. | animal drink | sick nervous scared tired | hot salty bitter sour sweet
lie down | {a} lay down on {b} because it was {deg} {cue}. | {a.nom} legte sich auf {b.acc}, weil {it.nom} {deg} {cue} war. | animal soft | tired sick sleepy exhausted lazy weak | soft comfortable
sleep not | {a} didn't sleep on {b} because it was {deg} {cue}. | {a.nom} schlief nicht auf {b.dat}, weil {it.nom} {deg} {cue} war. | animal soft | nervous hungry thirsty scared angry | hard uncomfortable narrow
fit | {a} doesn't fit into {b} because it is too {cue}. | {a.nom} passt nicht in {b.acc}, weil {it.nom} zu {cue} ist. | thing container | big large long thick wide bulky | small full narrow tiny
fit instrument | {a} did not fit into {b} because it was too {cue}. | {a.nom} passte nicht in {b.acc}, weil {it.nom} zu {cue} war. | instrument container | big large long thick wide bulky | small full narrow tiny
fit well | {a} fits into {b} because it is very {cue}. | {a.nom} passt in {b.acc}, weil {it.nom} sehr {cue} ist. | device container | small thin narrow short tiny | big wide large
drive through | {a} couldn't drive through {b} because it was too {cue}. | {a.nom} konnte nicht durch {b.acc} fahren, weil {it.nom} zu {cue} war. | vehicle passage | wide high long big large bulky | narrow low small tiny
get through | {a} couldn't get through {b} because it was too {cue}. | {a.nom} kam nicht durch {b.acc}, weil {it.nom} zu {cue} war. | animal passage | fat big large weak tired | narrow small low tiny
carry through | {who} couldn't get {a} through {b} because it was too {cue}. | {who} bekam {a.acc} nicht durch {b.acc}, weil {it.nom} zu {cue} war. | furniture passage | wide big large long bulky heavy | narrow small low tiny
cut | {a} didn't cut {b} because it was too {cue}. | {a.nom} schnitt {b.acc} nicht, weil {it.nom} zu {cue} war. | cutter solid | blunt dull short small | hard thick tough frozen
pull | {a} couldn't pull {b} because it was too {cue}. | {a.nom} konnte {b.acc} nicht ziehen, weil {it.nom} zu {cue} war. | draft vehicle | weak tired sick young exhausted lazy | heavy loaded full big
catch not | {a} couldn't catch {b} because it was {deg} {cue}. | {a.nom} konnte {b.acc} nicht fangen, weil {it.nom} {deg} {cue} war. | animal animal | slow tired weak lazy exhausted | fast quick nimble clever
catch | {a} caught {b} because it was {deg} {cue}. | {a.nom} fing {b.acc}, weil {it.nom} {deg} {cue} war. | animal animal | fast quick nimble hungry | slow tired weak sick
overtake | {a} overtook {b} because it was {deg} {cue}. | {a.nom} überholte {b.acc}, weil {it.nom} {deg} {cue} war. | vehicle vehicle | fast quick | slow heavy loaded
fear | {a} was afraid of {b} because it was {deg} {cue}. | {a.nom} hatte Angst vor {b.dat}, weil {it.nom} {deg} {cue} war. | animal device | shy young weak nervous | loud noisy bright hot
hide | {a} hid behind {b} because it was {deg} {cue}. | {a.nom} versteckte sich hinter {b.dat}, weil {it.nom} {deg} {cue} war. | animal furniture | scared nervous shy sick | big wide high large
hide outside | Because it was {deg} {cue}, {a} hid behind {b}. | Weil {it.nom} {deg} {cue} war, versteckte sich {a.nom} hinter {b.dat}. | animal plant | scared nervous shy tired | big high thick large
leave | {a} left {b} because it was {deg} {cue}. | {a.nom} verließ {b.acc}, weil {it.nom} {deg} {cue} war. | animal building | hungry thirsty nervous angry | dark damp empty crowded
run into | {a} ran into {b} because it was {deg} {cue}. | {a.nom} lief in {b.acc}, weil {it.nom} {deg} {cue} war. | animal building | scared hungry tired thirsty | open empty safe dry
reach | Before {a} reached {b}, it was already {cue}. | Bevor {a.nom} {b.acc} erreichte, war {it.nom} schon {cue}. | animal building | tired exhausted hungry thirsty | closed empty full crowded locked
pour | {who} poured {a} into {b} because it was {deg} {cue}. | {who} goss {a.acc} in {b.acc}, weil {it.nom} {deg} {cue} war. | drink vessel | fresh hot delicious tasty | empty clean big large
drink in | {a} is in {b}, but it is too {cue}. | {a.nom} ist in {b.dat}, aber {it.nom} ist zu {cue}. | drink vessel | sweet bitter sour strong hot | small full big
lie so | {a} was lying on {b}, so {who} {cue} it. | {a.nom} lag auf {b.dat}, deshalb {cue} {who} {it.acc}. | animal soft | fed stroked woke | repaired assembled=montierte upholstered=polsterte
sit and | {a} sat under {b}, and {who} {cue} it. | {a.nom} saß unter {b.dat}, und {who} {cue} {it.acc}. | animal furniture | fed stroked woke | repaired painted polished built
sit and far | Under {b} sat {a}, and {who} {cue} it. | Unter {b.dat} saß {a.nom}, und {who} {cue} {it.acc}. | animal furniture | fed stroked woke | repaired painted polished built
food in | {a} was in {b}, and {who} {cue} it. | {a.nom} war in {b.dat}, und {who} {cue} {it.acc}. | food container | ate tasted | opened closed=schloss emptied
text on | {a} lay on {b}, and {who} {cue} it. | {a.nom} lag auf {b.dat}, und {who} {cue} {it.acc}. | text furniture | read translated | repaired painted polished built
stand before | {a} stood in front of {b}, and {who} {cue} it. | {a.nom} stand vor {b.dat}, und {who} {cue} {it.acc}. | vehicle building | refueled washed parked=parkte | visited entered heated
play beside | {a} stood beside {b}, and {who} {cue} it. | {a.nom} stand neben {b.dat}, und {who} {cue} {it.acc}. | instrument furniture | played tuned | painted polished built
when so | When {a} ran into {b}, {who} {cue} it. | Als {a.nom} in {b.acc} lief, {cue} {who} {it.acc}. | animal building | fed stroked | closed=schloss locked=verschloss painted
put clothes | {who} put {a} into {b} because it was {cue}. | {who} legte {a.acc} in {b.acc}, weil {it.nom} {cue} war. | clothing container | wet torn dirty dry | empty open free
take out | {who} took {a} out of {b} because it was {deg} {cue}. | {who} nahm {a.acc} aus {b.dat}, weil {it.nom} {deg} {cue} war. | thing container | valuable fragile | full narrow crowded small
put on | {who} put {a} on {b} because it was {cue}. | {who} stellte {a.acc} auf {b.acc}, weil {it.nom} {cue} war. | device furniture | heavy fragile loud | empty free
warm | {a} doesn't warm {b} because it is too {cue}. | {a.nom} wärmt {b.acc} nicht, weil {it.nom} zu {cue} ist. | warmer room | weak small tiny | big large high damp
eat after | {who} gave {a} {b} because it was {cue}. | {who} gab {a.dat} {b.acc}, weil {it.nom} {cue} war. | animal food | hungry greedy weak | fresh sweet tasty
next to | {a} is next to {b}. It is {deg} {cue}. | {a.nom} ist neben {b.dat}. {it.nom} ist {deg} {cue}. | animal furniture | @feeling | wobbly cheap expensive old
near | {b} is near {a}, but it is {deg} {cue}. | {b.nom} ist in der Nähe von {a.dat}, aber {it.nom} ist {deg} {cue}. | animal building | @feeling | closed empty dark locked
lies on | {a} lies on {b}, but it is {deg} {cue}. | {a.nom} liegt auf {b.dat}, aber {it.nom} ist {deg} {cue}. | food furniture | salty sweet delicious sour bitter | wobbly broken low
text in | {a} is in {b}, but it is {cue}. | {a.nom} ist in {b.dat}, aber {it.nom} ist {cue}. | text container | boring interesting long | locked full empty
play until | {a} played with {b} until it was {cue}. | {a.nom} spielte mit {b.dat}, bis {it.nom} {cue} war. | animal toy | tired hungry exhausted thirsty | broken torn
hear | {who} couldn't hear {a} beside {b} because it was too {cue}. | {who} konnte {a.acc} neben {b.dat} nicht hören, weil {it.nom} zu {cue} war. | instrument device | quiet | loud noisy
replace | {who} replaced {a} with {b} because it was {cue}. | {who} ersetzte {a.acc} durch {b.acc}, weil {it.nom} {cue} war. | device device | broken old slow ugly useless | new modern better cheap
sell and buy | {who} sold {a} and bought {b} because it was {cue}. | {who} verkaufte {a.acc} und kaufte {b.acc}, weil {it.nom} {cue} war. | furniture furniture | broken old ugly wobbly | new modern better cheap
ride and | {who} sold {a} and kept {b} because it was {cue}. | {who} verkaufte {a.acc} und behielt {b.acc}, weil {it.nom} {cue} war. | vehicle animal | broken old slow expensive | brave friendly clever young
help | {a} was {deg} {cue}, so {who} helped it. | {a.nom} war {deg} {cue}, deshalb half {who} {it.dat}. | animal | sick hurt weak tired scared |
follow | {who} followed {a} because it was {deg} {cue}. | {who} folgte {a.dat}, weil {it.nom} {deg} {cue} war. | animal | hurt sick slow friendly nervous |
give it | {a} was {cue}, so {who} gave it {b}. | {a.nom} war {cue}, deshalb gab {who} {it.dat} {b.acc}. | animal food | hungry weak greedy sick |
near dative | {a} came out of {b}, and {who} gave it some water because it was {cue}. | {a.nom} kam aus {b.dat}, und {who} gab {it.dat} etwas Wasser, weil {it.nom} {cue} war. | animal building | thirsty tired hungry exhausted |
play with | {who} found {a} and played with it because it was {deg} {cue}. | {who} fand {a.acc} und spielte mit {it.dat}, weil {it.nom} {deg} {cue} war. | animal | friendly young clever lazy |
buy | {who} bought {a} because it was {deg} {cue}. | {who} kaufte {a.acc}, weil {it.nom} {deg} {cue} war. | device clothing text furniture instrument thing vehicle | cheap beautiful useful new modern |
buy not | {who} didn't buy {a} because it was too {cue}. | {who} kaufte {a.acc} nicht, weil {it.nom} zu {cue} war. | device clothing text furniture instrument thing vehicle | expensive old ugly big small |
although buy | Although {a} was {cue}, {who} bought it. | Obwohl {a.nom} {cue} war, kaufte {who} {it.acc}. | device clothing text furniture instrument thing vehicle | expensive old ugly useless broken |
if buy | If {a} is {deg} {cue}, I won't buy it. | Wenn {a.nom} {deg} {cue} ist, kaufe ich {it.acc} nicht. | device clothing text furniture instrument thing vehicle | expensive old ugly small |
where | Where is {a}? I can't {cue} it. | Wo ist {a.nom}? Ich kann {it.acc} nicht {cue}. | animal device clothing text container thing vehicle instrument | find see describe forget |
lost | I lost {a}, but {who} {cue} it. | Ich verlor {a.acc}, aber {who} {cue} {it.acc}. | animal device clothing text container thing instrument | found took sold |
want to sell | {a} is {deg} {cue}. {who} wants to sell it. | {a.nom} ist {deg} {cue}. {who} will {it.acc} verkaufen. | device clothing furniture instrument thing vehicle building | old big expensive useless ugly |
did you see | Did you see {a}? It was {deg} {cue}. | Hast du {a.acc} gesehen? {it.nom} war {deg} {cue}. | animal building vehicle thing path height room | big beautiful old small |
look at | Look at {a}! It is {deg} {cue}. | Sieh dir {a.acc} an! {it.nom} ist {deg} {cue}. | animal device clothing text building vehicle plant food | beautiful big small old |
so that | {a} is so {cue} that nobody wants it. | {a.nom} ist so {cue}, dass niemand {it.acc} will. | device clothing furniture instrument thing vehicle text | old ugly expensive useless |
drink passive | {b} was drunk by {a} because it was {deg} {cue}. | {b.nom} wurde von {a.dat} getrunken, weil {it.nom} {deg} {cue} war. | animal drink | thirsty greedy exhausted | sweet fresh delicious cool tasty
avoid passive | {b} was avoided by {a} because it was {deg} {cue}. | {b.nom} wurde von {a.dat} gemieden, weil {it.nom} {deg} {cue} war. | animal building | shy nervous scared afraid | dark damp noisy crowded
pull passive | {b} was not pulled by {a} because it was {deg} {cue}. | {b.nom} wurde von {a.dat} nicht gezogen, weil {it.nom} {deg} {cue} war. | draft vehicle | weak tired sick lazy exhausted | heavy loaded broken
find passive | {b} was found by {a} when it was {cue}. | {b.nom} wurde von {a.dat} gefunden, als {it.nom} {cue} war. | animal food | hungry greedy thirsty | fresh juicy rotten delicious
outrun | {a} escaped from {b} because it was {deg} {cue}. | {a.nom} entkam {b.dat}, weil {it.nom} {deg} {cue} war. | animal animal | fast quick nimble clever | slow tired weak sick lazy
faster | {a} was faster than {b} because it was {deg} {cue}. | {a.nom} war schneller als {b.nom}, weil {it.nom} {deg} {cue} war. | animal animal | nimble young light | tired sick old fat
win | {a} won against {b} because it was {deg} {cue}. | {a.nom} gewann gegen {b.acc}, weil {it.nom} {deg} {cue} war. | animal animal | fast strong clever nimble | weak tired slow sick
read in | {a} was in {b}, and {who} {cue} it. | {a.nom} war in {b.dat}, und {who} {cue} {it.acc}. | text container | read translated | opened closed=schloss emptied
read far | In {b} lay {a}, and {who} {cue} it. | In {b.dat} lag {a.nom}, und {who} {cue} {it.acc}. | text container | read translated | opened closed=schloss emptied
eat far | In {b} was {a}, and {who} {cue} it. | In {b.dat} war {a.nom}, und {who} {cue} {it.acc}. | food container | ate tasted | opened closed=schloss emptied
lie far | On {b} lay {a}, and {who} {cue} it. | Auf {b.dat} lag {a.nom}, und {who} {cue} {it.acc}. | animal soft | fed stroked woke | repaired upholstered=polsterte
stand far | In front of {b} stood {a}, and {who} {cue} it. | Vor {b.dat} stand {a.nom}, und {who} {cue} {it.acc}. | vehicle building | refueled washed parked=parkte | visited entered heated
behind far | Behind {b} stood {a}. {who} {cue} it. | Hinter {b.dat} stand {a.nom}. {who} {cue} {it.acc}. | instrument furniture | played tuned | painted polished repaired
put text | {who} put {a} into {b} because it was {cue}. | {who} legte {a.acc} in {b.acc}, weil {it.nom} {cue} war. | text container | torn boring interesting old | empty open free
hang clothes | {who} hung {a} over {b} because it was {cue}. | {who} hängte {a.acc} über {b.acc}, weil {it.nom} {cue} war. | clothing furniture | wet torn dirty dry | free empty
keep clothes | {who} kept {a} in {b} because it was {cue}. | {who} bewahrte {a.acc} in {b.dat} auf, weil {it.nom} {cue} war. | clothing container | torn valuable beautiful old | empty free locked
lay text | {who} laid {a} on {b} because it was {cue}. | {who} legte {a.acc} auf {b.acc}, weil {it.nom} {cue} war. | text furniture | interesting boring long | empty free
put fruit | {who} put {a} on {b} because it was {cue}. | {who} legte {a.acc} auf {b.acc}, weil {it.nom} {cue} war. | food furniture | fresh juicy rotten | empty free
throw away | {who} threw {a} away because it was {deg} {cue}. | {who} warf {a.acc} weg, weil {it.nom} {deg} {cue} war. | clothing text toy | torn dirty old ugly broken |
carry until | {a} carried {b} until it was {cue}. | {a.nom} trug {b.acc}, bis {it.nom} {cue} war. | animal toy | tired hungry exhausted thirsty | broken torn
bite | {a} bit into {b} until it was {cue}. | {a.nom} biss in {b.acc}, bis {it.nom} {cue} war. | animal clothing | tired full=satt | broken torn
drive past | {a} stopped in front of {b} because it was {deg} {cue}. | {a.nom} hielt vor {b.dat}, weil {it.nom} {deg} {cue} war. | vehicle passage | broken heavy loaded slow | narrow low locked closed
drive away | {a} left {b} because it was {deg} {cue}. | {a.nom} verließ {b.acc}, weil {it.nom} {deg} {cue} war. | vehicle path | loaded heavy full | icy slippery narrow muddy wet flooded
clean | {who} {cue} {a} and put it next to {b}. | {who} {cue} {a.acc} und stellte {it.acc} neben {b.acc}. | device furniture | cleaned polished repaired painted |
"""  # noqa: E501

HELD_OUT_FRAMES = {
    "dev": (
        "jump although", "run into", "put on", "drink not", "sit and far", "climb", "eat passive", "catch", "leave",
        "text on", "put clothes", "play until", "drive across",
    ),
    "test": (
        "pull passive", "avoid passive", "outrun", "read far", "put fruit", "hang clothes", "carry until", "drive past",
    ),
}  # fmt: skip
"""Frames that no training sentence has. Those for the test were written after those for dev had been looked at."""


def _cues(column: str) -> tuple[tuple[str, str], ...]:
    for group, cues in GROUPS.items():
        column = column.replace(group, cues)
    parts = (cue.partition("=") for cue in column.split())
    return tuple((english, german or CUES[english]) for english, _, german in parts)


def _read(line: str) -> Frame:
    name, english, german, kinds, about_a, about_b = (column.strip() for column in line.split("|"))
    first, *rest = kinds.split()
    # One candidate of several kinds (there is no {b}), or two candidates of one kind each.
    kind_a, kind_b = (first, rest[0]) if "{b}" in english and len(rest) == 1 else (kinds, "")
    return Frame(name, english, german, kind_a, kind_b, _cues(about_a), _cues(about_b))


FRAMES = tuple(_read(line) for line in TABLE.strip().splitlines())
