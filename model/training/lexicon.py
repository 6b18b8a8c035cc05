"""The words of the pronoun curriculum: nouns with gender and kind, cues, people. Knows nothing of sentences.

A *cue* is what tells to whom a pronoun refers: a property (“tired”) or something that is done to it (“fed”).
"""

from dataclasses import dataclass
from typing import Literal

Gender = Literal["m", "f", "n"]
Case = Literal["nom", "acc", "dat"]

# English = German nominative, by kind. An oblique form follows the German noun where it has one (der Bär/Bären).
KINDS = {
    "animal": """dog=der Hund, cat=die Katze, horse=das Pferd, cow=die Kuh, pig=das Schwein, sheep=das Schaf,
        goat=die Ziege, bird=der Vogel, mouse=die Maus, rat=die Ratte, rabbit=das Kaninchen, bear=der Bär/Bären,
        wolf=der Wolf, fox=der Fuchs, lion=der Löwe/Löwen, tiger=der Tiger, elephant=der Elefant/Elefanten,
        monkey=der Affe/Affen, snake=die Schlange, frog=der Frosch, duck=die Ente, goose=die Gans, chicken=das Huhn,
        donkey=der Esel, camel=das Kamel, deer=das Reh, squirrel=das Eichhörnchen, hedgehog=der Igel,
        turtle=die Schildkröte, crocodile=das Krokodil, zebra=das Zebra, giraffe=die Giraffe, owl=die Eule,
        eagle=der Adler, hen=die Henne, puppy=der Welpe/Welpen, kitten=das Kätzchen, calf=das Kalb, lamb=das Lamm,
        pony=das Pony, parrot=der Papagei/Papageien, swan=der Schwan, spider=die Spinne, bee=die Biene,
        animal=das Tier, hamster=der Hamster, pigeon=die Taube, crow=die Krähe, mule=das Maultier, bull=der Stier,
        penguin=der Pinguin, seal=die Robbe""",
    "draft": """horse=das Pferd, donkey=der Esel, cow=die Kuh, pony=das Pony, mule=das Maultier, camel=das Kamel,
        elephant=der Elefant/Elefanten, dog=der Hund, goat=die Ziege, animal=das Tier, bull=der Stier,
        buffalo=der Büffel""",
    "vehicle": """car=das Auto, bus=der Bus, truck=der Lastwagen, bicycle=das Fahrrad, motorcycle=das Motorrad,
        tractor=der Traktor, van=der Lieferwagen, taxi=das Taxi, tram=die Straßenbahn, ambulance=der Krankenwagen,
        carriage=die Kutsche, sled=der Schlitten, locomotive=die Lokomotive, train=der Zug, scooter=der Roller,
        race car=der Rennwagen""",
    "boat": "boat=das Boot, ferry=die Fähre, yacht=die Jacht, ship=das Schiff, raft=das Floß, canoe=das Kanu",
    "path": """street=die Straße, bridge=die Brücke, path=der Weg, alley=die Gasse, square=der Platz, field=das Feld,
        meadow=die Wiese, highway=die Autobahn, intersection=die Kreuzung, trail=der Pfad, yard=der Hof,
        avenue=die Allee, sidewalk=der Gehweg, crosswalk=der Zebrastreifen, parking lot=der Parkplatz,
        marketplace=der Marktplatz, dirt road=der Feldweg, clearing=die Lichtung, construction site=die Baustelle,
        valley=das Tal, terrain=das Gelände""",
    "water": """river=der Fluss, lake=der See, stream=der Bach, pond=der Teich, canal=der Kanal, sea=das Meer,
        bay=die Bucht, ocean=der Ozean, body of water=das Gewässer""",
    "barrier": """fence=der Zaun, wall=die Mauer, gate=das Tor, hedge=die Hecke, ditch=der Graben,
        barrier=die Schranke, railing=das Geländer, log=der Baumstamm, beam=der Balken, hurdle=die Hürde,
        obstacle=das Hindernis, net=das Netz""",
    "height": """mountain=der Berg, hill=der Hügel, tree=der Baum, rock=der Felsen, tower=der Turm,
        ladder=die Leiter, slope=der Hang, dune=die Düne, pyramid=die Pyramide, roof=das Dach, cliff=die Klippe,
        volcano=der Vulkan, platform=die Plattform, staircase=die Treppe, monument=das Denkmal""",
    "slope": """mountain=der Berg, hill=der Hügel, slope=der Hang, dune=die Düne, street=die Straße, ramp=die Rampe,
        dirt road=der Feldweg, volcano=der Vulkan, terrain=das Gelände""",
    "building": """house=das Haus, barn=die Scheune, stable=der Stall, hut=die Hütte, castle=das Schloss,
        church=die Kirche, school=die Schule, station=der Bahnhof, hotel=das Hotel, garage=die Garage,
        cave=die Höhle, tent=das Zelt, factory=die Fabrik, museum=das Museum, library=die Bibliothek,
        theater=das Theater, hospital=das Krankenhaus, palace=der Palast, shed=der Schuppen, cellar=der Keller,
        temple=der Tempel, supermarket=der Supermarkt, shop=der Laden, bunker=der Bunker, mill=die Mühle,
        cathedral=die Kathedrale, fortress=die Festung, workshop=die Werkstatt, gym=die Turnhalle,
        restaurant=das Restaurant, cinema=das Kino, prison=das Gefängnis""",
    "passage": """tunnel=der Tunnel, door=die Tür, gap=die Lücke, hole=das Loch, opening=die Öffnung,
        entrance=der Eingang, hallway=der Flur, window=das Fenster, driveway=die Einfahrt, gate=das Tor,
        exit=der Ausgang, corridor=der Korridor, hatch=die Luke, front door=die Haustür, portal=das Portal,
        pipe=das Rohr""",
    "furniture": """table=der Tisch, chair=der Stuhl, bed=das Bett, sofa=das Sofa, bench=die Bank, shelf=das Regal,
        armchair=der Sessel, desk=der Schreibtisch, stool=der Hocker, cupboard=der Schrank""",
    "soft": """bed=das Bett, sofa=das Sofa, carpet=der Teppich, couch=die Couch, mattress=die Matratze,
        pillow=das Kissen, blanket=die Decke, hammock=die Hängematte, armchair=der Sessel, mat=die Matte""",
    "container": """box=die Kiste, suitcase=der Koffer, bag=die Tasche, basket=der Korb, drawer=die Schublade,
        backpack=der Rucksack, bucket=der Eimer, barrel=das Fass, sack=der Sack, package=das Paket,
        trunk=der Kofferraum, safe=der Tresor, can=die Dose, chest=die Truhe, handbag=die Handtasche,
        envelope=der Umschlag, toolbox=der Werkzeugkasten, pouch=der Beutel, briefcase=die Aktentasche,
        parcel=das Päckchen""",
    "vessel": """cup=die Tasse, glass=das Glas, bottle=die Flasche, mug=der Becher, jug=der Krug, bowl=die Schüssel,
        pot=der Topf, teapot=die Teekanne, vessel=das Gefäß""",
    "drink": """milk=die Milch, water=das Wasser, coffee=der Kaffee, tea=der Tee, juice=der Saft, beer=das Bier,
        wine=der Wein, soup=die Suppe, lemonade=die Limonade, cocoa=der Kakao, cream=die Sahne, sauce=die Soße,
        medicine=die Medizin, beverage=das Getränk""",
    "food": """bread=das Brot, cake=der Kuchen, apple=der Apfel, pear=die Birne, banana=die Banane, cheese=der Käse,
        meat=das Fleisch, sausage=die Wurst, egg=das Ei, carrot=die Karotte, tomato=die Tomate, cucumber=die Gurke,
        potato=die Kartoffel, orange=die Orange, cookie=der Keks, sandwich=das Sandwich, pizza=die Pizza,
        salad=der Salat, strawberry=die Erdbeere, peach=der Pfirsich, hay=das Heu, nut=die Nuss, melon=die Melone,
        cherry=die Kirsche, plum=die Pflaume, pancake=der Pfannkuchen, chocolate=die Schokolade, ham=der Schinken,
        fish=der Fisch, honey=der Honig, corn=der Mais, bacon=der Speck, pineapple=die Ananas, lemon=die Zitrone,
        coconut=die Kokosnuss, pie=die Pastete, roll=das Brötchen, steak=das Steak, ice cream=das Eis""",
    "solid": """bread=das Brot, cheese=der Käse, meat=das Fleisch, sausage=die Wurst, cake=der Kuchen,
        melon=die Melone, ham=der Schinken, rope=das Seil, pizza=die Pizza, board=das Brett, branch=der Ast,
        potato=die Kartoffel, wire=der Draht, fabric=der Stoff, beam=der Balken, log=der Baumstamm, bacon=der Speck,
        cardboard=die Pappe, coconut=die Kokosnuss, cord=die Schnur, root=die Wurzel, leather=das Leder,
        wood=das Holz, paper=das Papier, cable=das Kabel, pipe=das Rohr, steak=das Steak, plastic=das Plastik""",
    "device": """lamp=die Lampe, radio=das Radio, television=der Fernseher, computer=der Computer, phone=das Telefon,
        clock=die Uhr, camera=die Kamera, fridge=der Kühlschrank, vacuum cleaner=der Staubsauger,
        washing machine=die Waschmaschine, printer=der Drucker, fan=der Ventilator, toaster=der Toaster,
        flashlight=die Taschenlampe, drill=die Bohrmaschine, laptop=der Laptop, engine=der Motor,
        alarm clock=der Wecker, lawn mower=der Rasenmäher, sewing machine=die Nähmaschine, machine=die Maschine,
        device=das Gerät, cell phone=das Handy, projector=der Projektor, stove=der Herd, monitor=der Monitor,
        speaker=der Lautsprecher, robot=der Roboter, drone=die Drohne, pump=die Pumpe, smartphone=das Smartphone,
        microphone=das Mikrofon, telescope=das Teleskop, microscope=das Mikroskop""",
    "warmer": """heater=die Heizung, oven=der Ofen, fire=das Feuer, fireplace=der Kamin, candle=die Kerze,
        lamp=die Lampe, stove=der Herd, torch=die Fackel, flame=die Flamme""",
    "room": """room=das Zimmer, kitchen=die Küche, bathroom=das Badezimmer, attic=der Dachboden, office=das Büro,
        hall=die Halle, cellar=der Keller, tent=das Zelt, living room=das Wohnzimmer, corridor=der Korridor,
        shop=der Laden, apartment=die Wohnung, workshop=die Werkstatt, gym=die Turnhalle, cabin=die Kabine,
        classroom=das Klassenzimmer, bedroom=das Schlafzimmer, laboratory=das Labor, studio=das Studio""",
    "instrument": """guitar=die Gitarre, violin=die Geige, piano=das Klavier, trumpet=die Trompete, drum=die Trommel,
        flute=die Flöte, harp=die Harfe, cello=das Cello, organ=die Orgel, saxophone=das Saxophon, bass=der Bass,
        accordion=das Akkordeon, horn=das Horn""",
    "clothing": """coat=der Mantel, jacket=die Jacke, shirt=das Hemd, dress=das Kleid, skirt=der Rock, hat=der Hut,
        cap=die Mütze, sweater=der Pullover, scarf=der Schal, tie=die Krawatte, blouse=die Bluse, belt=der Gürtel,
        suit=der Anzug, towel=das Handtuch, glove=der Handschuh, apron=die Schürze, vest=die Weste,
        T-shirt=das T-Shirt, costume=das Kostüm, jersey=das Trikot""",
    "text": """book=das Buch, letter=der Brief, newspaper=die Zeitung, magazine=die Zeitschrift, novel=der Roman,
        poem=das Gedicht, contract=der Vertrag, report=der Bericht, diary=das Tagebuch, article=der Artikel,
        story=die Geschichte, postcard=die Postkarte, invitation=die Einladung, document=das Dokument,
        essay=der Aufsatz, comic=der Comic, catalog=der Katalog, text=der Text, brochure=die Broschüre,
        message=die Nachricht, menu=die Speisekarte, certificate=die Urkunde, recipe=das Rezept,
        textbook=das Lehrbuch, manual=das Handbuch""",
    "cutter": """knife=das Messer, saw=die Säge, axe=die Axt, sword=das Schwert, chainsaw=die Kettensäge,
        blade=die Klinge""",
    "thing": """ball=der Ball, doll=die Puppe, kite=der Drachen, vase=die Vase, statue=die Statue,
        painting=das Gemälde, picture=das Bild, mirror=der Spiegel, umbrella=der Regenschirm, stone=der Stein,
        toy=das Spielzeug, teddy bear=der Teddybär/Teddybären, flag=die Fahne, crown=die Krone, hammer=der Hammer,
        shovel=die Schaufel, broom=der Besen, brush=die Bürste, chain=die Kette, trophy=der Pokal, clock=die Uhr,
        ring=der Ring, key=der Schlüssel, diamond=der Diamant/Diamanten, frame=der Rahmen, anchor=der Anker,
        sculpture=die Skulptur, necklace=die Halskette, bell=die Glocke, medal=die Medaille, map=die Landkarte,
        tray=das Tablett, surfboard=das Surfbrett, photo=das Foto, gift=das Geschenk, tool=das Werkzeug""",
    "toy": """ball=der Ball, doll=die Puppe, kite=der Drachen, toy=das Spielzeug, balloon=der Luftballon,
        teddy bear=der Teddybär/Teddybären, rope=das Seil, newspaper=die Zeitung, stick=der Stock,
        tennis ball=der Tennisball, glove=der Handschuh, cord=die Schnur, net=das Netz""",
    "plant": """flower=die Blume, rose=die Rose, tree=der Baum, bush=der Busch, cactus=der Kaktus, plant=die Pflanze,
        palm tree=die Palme, oak=die Eiche, grass=das Gras""",
}  # fmt: skip

# Properties stand after “to be” (German: undeclined); actions are past tense, alike for er/sie/es.
CUES = {
    # of living things
    "tired": "müde", "hungry": "hungrig", "thirsty": "durstig", "sick": "krank", "weak": "schwach",
    "scared": "verängstigt", "exhausted": "erschöpft", "nervous": "nervös", "lazy": "faul", "sleepy": "schläfrig",
    "full": "voll", "greedy": "gierig", "young": "jung", "shy": "schüchtern", "hurt": "verletzt", "fat": "dick",
    "angry": "wütend", "afraid": "ängstlich", "brave": "mutig", "friendly": "freundlich", "clever": "schlau",
    # of size, shape and weight
    "wide": "breit", "narrow": "schmal", "big": "groß", "large": "groß", "small": "klein", "tiny": "winzig",
    "long": "lang", "short": "kurz", "thick": "dick", "thin": "dünn", "high": "hoch", "low": "niedrig",
    "heavy": "schwer", "light": "leicht", "deep": "tief", "shallow": "flach", "steep": "steil", "bulky": "sperrig",
    # of surfaces and states
    "slippery": "rutschig", "icy": "vereist", "wet": "nass", "dry": "trocken", "muddy": "schlammig",
    "flooded": "überschwemmt", "frozen": "gefroren", "polluted": "verschmutzt", "rough": "stürmisch",
    "soft": "weich", "hard": "hart", "comfortable": "bequem", "uncomfortable": "unbequem", "smooth": "glatt",
    "wobbly": "wackelig", "dirty": "schmutzig", "clean": "sauber", "empty": "leer", "free": "frei", "open": "offen",
    "closed": "geschlossen", "locked": "abgeschlossen", "dark": "dunkel", "damp": "feucht", "safe": "sicher",
    "broken": "kaputt", "torn": "zerrissen", "blunt": "stumpf", "dull": "stumpf", "sharp": "scharf",
    "fragile": "zerbrechlich", "loaded": "beladen", "busy": "belebt", "crowded": "überfüllt",
    # of taste
    "sweet": "süß", "salty": "salzig", "bitter": "bitter", "sour": "sauer", "fresh": "frisch", "spicy": "scharf",
    "delicious": "köstlich", "tasty": "lecker", "juicy": "saftig", "rotten": "verfault", "hot": "heiß",
    "strong": "stark", "cool": "kühl", "tough": "zäh",
    # of worth and sound
    "cheap": "billig", "expensive": "teuer", "beautiful": "schön", "ugly": "hässlich", "useful": "nützlich",
    "useless": "nutzlos", "old": "alt", "new": "neu", "modern": "modern", "better": "besser", "valuable": "wertvoll",
    "boring": "langweilig", "interesting": "interessant", "loud": "laut", "noisy": "laut", "quiet": "leise",
    "bright": "hell", "fast": "schnell", "quick": "schnell", "slow": "langsam", "nimble": "flink",
    # what is done to it
    "fed": "fütterte", "stroked": "streichelte", "woke": "weckte", "repaired": "reparierte", "painted": "strich",
    "polished": "polierte", "cleaned": "putzte", "sold": "verkaufte", "ate": "aß", "tasted": "probierte",
    "opened": "öffnete", "emptied": "leerte", "read": "las", "translated": "übersetzte",
    "visited": "besuchte", "entered": "betrat", "heated": "heizte", "refueled": "betankte", "washed": "wusch",
    "played": "spielte", "tuned": "stimmte", "built": "baute", "found": "fand", "lost": "verlor", "took": "nahm",
    "find": "finden", "see": "sehen", "describe": "beschreiben", "forget": "vergessen",
}  # fmt: skip

PEOPLE = (
    "the man=der Mann, the woman=die Frau, the girl=das Mädchen, the boy=der Junge, the teacher=der Lehrer, "
    "my mother=meine Mutter, my father=mein Vater, my sister=meine Schwester, my brother=mein Bruder, Tom=Tom, "
    "Mary=Maria, the farmer=der Bauer, the child=das Kind, our neighbor=unser Nachbar, the cook=der Koch, Anna=Anna, "
    "Peter=Peter, the doctor=der Arzt, he=er, she=sie"
)

DETERMINERS = {
    "the": {"m": ("der", "den", "dem"), "f": ("die", "die", "der"), "n": ("das", "das", "dem")},
    "a": {"m": ("ein", "einen", "einem"), "f": ("eine", "eine", "einer"), "n": ("ein", "ein", "einem")},
    "my": {"m": ("mein", "meinen", "meinem"), "f": ("meine", "meine", "meiner"), "n": ("mein", "mein", "meinem")},
    "this": {
        "m": ("dieser", "diesen", "diesem"), "f": ("diese", "diese", "dieser"), "n": ("dieses", "dieses", "diesem"),
    },
}  # fmt: skip
PRONOUNS = {"m": ("er", "ihn", "ihm"), "f": ("sie", "sie", "ihr"), "n": ("es", "es", "ihm")}
PRONOUN_FORMS = frozenset(form for forms in PRONOUNS.values() for form in forms)
CASES: tuple[Case, ...] = ("nom", "acc", "dat")
GENDERS: dict[str, Gender] = {"der": "m", "die": "f", "das": "n"}
UNCOUNTED = {"drink", "food", "solid"}
"""Kinds whose nouns take no “a”."""


@dataclass(frozen=True)
class Noun:
    """One noun in both languages."""

    english: str
    german: str
    oblique: str
    gender: Gender

    def in_german(self, determiner: str, case: Case) -> str:
        """With its determiner, declined."""
        article = DETERMINERS[determiner][self.gender][CASES.index(case)]
        return f"{article} {self.german if case == 'nom' else self.oblique}"

    def in_english(self, determiner: str) -> str:
        """With its determiner; “an” before a vowel."""
        article = "an" if determiner == "a" and self.english[0] in "aeiou" else determiner
        return f"{article} {self.english}"

    def pronoun(self, case: Case) -> str:
        """What “it” becomes where it stands for this noun."""
        return PRONOUNS[self.gender][CASES.index(case)]


def parse_nouns(table: str) -> tuple[Noun, ...]:
    """Read one kind's table."""
    nouns = []
    for entry in table.split(","):
        english, _, german = entry.strip().partition("=")
        article, _, name = german.partition(" ")
        nominative, _, oblique = name.partition("/")
        nouns.append(Noun(english, nominative, oblique or nominative, GENDERS[article]))
    return tuple(nouns)


NOUNS = {kind: parse_nouns(table) for kind, table in KINDS.items()}
HUMANS = tuple((english, german) for english, _, german in (entry.partition("=") for entry in PEOPLE.split(", ")))
