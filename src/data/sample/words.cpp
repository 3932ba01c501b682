#include "data/sample/words.h"

namespace dragoman::data::sample {

const std::string_view kClassTable = R"(
animal: animal dog cat horse wolf cow sheep fox goat pig bear mouse chicken lion rat calf monkey goose lamb elephant duck foal hare snake pony donkey turtle camel badger hyena zebra hedgehog giraffe rabbit ox gazelle crocodile stag antelope hippo rooster lizard deer frog toad squirrel tiger llama beaver otter piglet leopard seal kangaroo hamster reindeer swan crow mule
draught_animal: horse dog cow ox goat mule donkey pony elephant camel reindeer llama
road: street path field bridge square track alley trail riverbed highway courtyard runway intersection footbridge valley meadow market avenue
water: river bay sea stream lagoon pool canal estuary delta lake pond harbour
container: suitcase box barrel basket bag compartment sack drawer parcel bucket chest net backpack tin case carton bowl cupboard
closable: suitcase box barrel bag case drawer compartment chest tin cupboard parcel backpack
object: trophy guitar book mirror lamp picture umbrella clock toy hat vase cushion ball doll radio carpet statue instrument helmet trumpet telescope coat blanket dress globe camera piano candlestick drum microscope typewriter violin
heavy_object: stone pan weight hammer statue iron brick axe telescope anvil camera microscope trophy clock radio globe typewriter candlestick
fragile_object: plate cup glass mirror vase window jug pane thermometer screen tile aquarium bulb lamp
standing_object: trophy vase radio globe lamp microscope candlestick clock telescope statue typewriter aquarium
furniture: table bench shelf chair dresser sofa stool counter platform desk windowsill
vehicle: bus carriage car truck tram boat train locomotive taxi tractor ferry ship ambulance plane cart wheelbarrow sledge raft
pulled_vehicle: cart carriage car sledge wheelbarrow boat plough truck raft
fruit: apple pear radish peach cherry vegetable pumpkin banana fruit cabbage plum grain tomato melon strawberry
dish: fish sausage bread cake soup egg cheese potato meat pudding carrot steak ham pie roll salad cucumber
cuttable_food: cake sausage bread cheese melon meat pumpkin cucumber steak ham pie roll cabbage carrot fish
tool: dagger saw knife chisel sickle sword spade blade hatchet axe machete scalpel
place: stable barn house garden cave tent cellar garage room shed hut castle park kitchen theatre tunnel church museum forest school cage hotel
climbable: tree wall roof hill ladder monument tower dune gate fence oak scaffold rock palm mountain
person: farmer woman girl cook aunt man grandmother boy uncle queen gardener daughter
)";

const std::string_view kAdjectiveTable = R"(
tired müde
hungry hungrig
thirsty durstig
frightened ängstlich
weak schwach
sick krank
sleepy schläfrig
exhausted erschöpft
nervous nervös
lazy faul
shy scheu
greedy gierig
cautious vorsichtig
injured verletzt !
wide breit
busy belebt
icy vereist
muddy schlammig
slippery rutschig
snowy verschneit
bumpy holprig
flooded überflutet !
closed gesperrt !
deep tief
stormy stürmisch
polluted verschmutzt
murky trüb
frozen gefroren !
large groß
bulky sperrig
long lang
thick dick
small klein
narrow schmal
full voll
shallow flach
heavy schwer
hard hart
thin dünn
fragile zerbrechlich
delicate zart
ripe reif
sweet süß
juicy saftig
fresh frisch
tasty lecker
soft weich
salty salzig
sour sauer saur
bitter bitter bittr
mouldy schimmelig
hot heiß
tough zäh
sharp scharf
blunt stumpf
rusty rostig
cosy gemütlich
empty leer
shady schattig
heated beheizt !
spacious geräumig
draughty zugig
damp feucht
cramped eng
smoky verraucht
high hoch hoh
steep steil
smooth glatt
rickety wackelig
low niedrig
loaded beladen !
old alt
young jung
brown braun
black schwarz
white weiß
grey grau
wild wild
beautiful schön
new neu
red rot
blue blau
green grün
yellow gelb
ugly hässlich
famous berühmt
strange seltsam
cheap billig
expensive teuer teur
)";

const std::string_view kAttributeTable = R"(
animal: old young brown black white grey wild beautiful
draught_animal: old young brown black white grey beautiful
road: old new beautiful famous strange
water: beautiful famous strange blue green
container: old new red blue green yellow black ugly
closable: old new red blue green yellow black ugly
object: old new beautiful ugly expensive cheap red white
heavy_object: old new ugly expensive black strange
fragile_object: old new beautiful expensive cheap white
standing_object: old new beautiful ugly expensive strange
furniture: old new white brown black ugly
vehicle: old new red blue green yellow white
pulled_vehicle: old new red blue green brown
fruit: cheap expensive green yellow beautiful
dish: cheap expensive strange famous
cuttable_food: cheap expensive strange famous
tool: old new cheap expensive famous strange
place: old new beautiful ugly strange famous
climbable: old beautiful famous strange grey
person: old young famous strange beautiful
)";

const std::string_view kAdverbialTable = R"(
yesterday / gestern
on Monday / am Montag
in the evening / am Abend
today / heute
last week / letzte Woche
on Sunday / am Sonntag
in winter / im Winter
at noon / mittags
last year / letztes Jahr
on Friday / am Freitag
after the storm / nach dem Sturm
in summer / im Sommer
this morning / heute Morgen
at night / nachts
before sunrise / vor Sonnenaufgang
on Wednesday / am Mittwoch
in autumn / im Herbst
after the concert / nach dem Konzert
last month / letzten Monat
during the holidays / in den Ferien
in spring / im Frühling
on Saturday / am Samstag
)";

}  // namespace dragoman::data::sample
