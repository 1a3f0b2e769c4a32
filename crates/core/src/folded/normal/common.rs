//! Common words of six letters and more, in their normal form: what people write that is no typing error.
//!
//! A dancer is not cancer and a strike is no stroke, though one letter differs: a word that is here is never corrected
//! to a name of one word. Shorter words are too near to each other to be corrected, and of longer ones few are here,
//! since they have few neighbours; verbs have their forms (walking, looked), as the rules of English leave them.
//!
//! A list is one text, sorted, of which the compiler makes a table of numbers: they are searched faster than texts,
//! and nothing of them is relocated when the library is loaded.

use super::Language::{
    self, Dutch, English, French, German, Italian, Portuguese, Simple, Spanish, Swedish,
};

/// Letters of the shortest ones, and the most that a number has room for.
pub(super) const SHORTEST: usize = 6;
const LONGEST: usize = 12;

/// Whether a normal word is a common one of that language. 29 ns among 6,353 words in a
/// release build, where halving a text took 450 ns and an array of places in it 200 ns.
pub(super) fn has(language: Language, word: &[u8]) -> bool {
    let is_length = (SHORTEST..=LONGEST).contains(&word.len());
    is_length && of(language).numbers.binary_search(&number(word)).is_ok()
}

/// Those of a language.
pub(super) fn of(language: Language) -> Words {
    match language {
        // A language without rules is mostly English.
        English | Simple => ENGLISH,
        German => GERMAN,
        French => FRENCH,
        Spanish => SPANISH,
        Italian => ITALIAN,
        Portuguese => PORTUGUESE,
        Dutch => DUTCH,
        Swedish => SWEDISH,
    }
}

/// Common words, sorted.
pub(super) struct Words {
    /// A blank between two.
    #[cfg(test)]
    pub(super) text: &'static str,
    numbers: &'static [u64],
}

/// Bits of a letter, of which none is 0.
const BITS: usize = 5;
const _: () = assert!(LONGEST * BITS <= 64);

/// A word as a number, in the order of words: 0 if it has other bytes than letters.
const fn number(word: &[u8]) -> u64 {
    let (mut number, mut at) = (0, 0);
    while at < word.len() {
        if !word[at].is_ascii_lowercase() {
            return 0;
        }
        number = number << BITS | (word[at] - b'a' + 1) as u64;
        at += 1;
    }
    number << (BITS * (LONGEST - word.len()))
}

/// How many words a text has.
const fn count(text: &str) -> usize {
    let (text, mut count, mut at) = (text.as_bytes(), 1, 0);
    while at < text.len() {
        count += (text[at] == b' ') as usize;
        at += 1;
    }
    count
}

const fn numbers<const N: usize>(text: &str) -> [u64; N] {
    let (mut rest, mut numbers, mut n, mut end) = (text.as_bytes(), [0; N], 0, 0);
    while n < N {
        if end == rest.len() || rest[end] == b' ' {
            let (word, after) = rest.split_at(end);
            numbers[n] = number(word);
            (rest, n, end) = (if let [_, after @ ..] = after { after } else { after }, n + 1, 0);
        } else {
            end += 1;
        }
    }
    numbers
}

macro_rules! words {
    ($name:ident, $text:literal) => {
        const $name: Words = {
            static NUMBERS: [u64; count($text)] = numbers($text);
            Words {
                #[cfg(test)]
                text: $text,
                numbers: &NUMBERS,
            }
        };
    };
}

words! { ENGLISH, "\
abandon abbott abigail ability aboard abroad abrupt absence absent absolute absorb absorbed abstract absurd \
abundant abused academic academy accent accept accepted access accessed accident account accurate accuse accused \
accusing achieve achieved aching acoustic acquire acquired across acting action active actively activity actress \
actual actually adapted adapter adapting addict addiction adding addition address adequate adhesive adjacent \
adjust adjusted admiral admire admired admiring admitted adopted adopting adoption adorable adrian adrift \
advance advanced adverse advise advised adviser advising advisory affair affect affected afford afforded afraid \
africa african against agatha agency agenda agreed agreeing aiding aiming airline airmail airport alabama \
alarmed alarming alaska albania albany albeit albert alcohol aldridge alfred algebra algeria algerian alicia \
alight alison allergic allergy alliance allison allowed allowing almond almost already alright altered altering \
always amanda amateur amazed amazing amazon ambition amelia america american amoral amount amused amusing \
analysis analyst ancestor anchor ancient anderson andrea andrew android anecdote angela angelina angola angrily \
animal announce annoyed annoying annual annually another answer answered antenna anthem anthony antique antonio \
antwerp anxiety anxious anybody anyhow anymore anyone anything anytime anyway anywhere apology apparent appeal \
appealed appealing appear appeared appearing appetite applause applied applying appoint approach approval \
approve approved arabia arabian arabic arable arcade archer archive arctic ardent argued arguing argument \
arizona arkansas armchair armenia armenian arnold around arrange arranged arrest arrested arrival arrive arrived \
arriving arrogant arthur article artist artistic ascend ascent ashamed ashley ashore asking asleep aspect assail \
assault assembly assess assessed assign assigned assist assisted assume assumed assuming assure assured assuring \
asthma athens athlete athletic atkinson atlanta atlantic attach attached attaching attack attacked attacking \
attain attempt attend attended attitude attorney attract auburn auckland auction audience auditor audrey august \
austin austria austrian author autumn avenue average aviation avoided avoiding awarded awarding awesome awfully \
awkward bachelor backbone backed backing backpack backup backward backyard badger baggage baghdad bahama bahrain \
bailey bailiff bakery baking balance balanced balcony baldwin ballard ballet balloon ballot bamboo banana \
bandage bandaged bandit banged banging bangkok banker banking bankrupt banned banner banning banquet banter \
baptism barbara barbecue barber barefoot barely bargain barium barked barker barking barley barman barnett \
barrage barred barrel barren barrett barrier barring bartlett barton basement basing basket bastard bathed \
bather bathing bathroom batten batter battery battle bavaria beacon beadle beamed beaming bearded bearer bearing \
beaten beating beatrice beauty beaver became because become becoming bedded bedding bedroom bedside bedtime \
beetle before beggar begged begging beginner behalf behave behaved behaving behavior beheld behind beijing \
beirut belarus belfast belgian belgium belgrade belief believe believed believer bellow belong belonged beloved \
bending beneath benefit benjamin bennett benson berlin bermuda bernard bernice bertha beside besides bethany \
betray better betting between beverage beverly beware beyond bicycle bidder bidding bigger biggest billed \
billing billion billow binary binder binding biology biopsy birthday biscuit bishop biting bitten bitter \
bitterly bladder blamed blaming blanket blasted blaster blasting blazer blazing bleach bleached bleeding blender \
blessed blessing blinder blinked blinking blister blocked blocking blonde bloody blossom blouse blower blowing \
bluster boarded boarder boarding boasted boaster boasting bobbin boiled boiler boiling bolder boldly bolivia \
bologna bolster bolted bolting bombay bombed bombing bonnet booked booking booklet booming boosted boosting \
booted bordeaux border boredom boring borrow borrowed bosnia boston bother bothered bottle bottled bottom bought \
boulder bounce bounced bouncer bouncing boundary bouquet boutique bowing bowler bowling boxing bracelet bracket \
bradford bradley bradshaw braked braking branch branched brandon brandy bravely bravery brazil breach breaking \
breast breath breathe breathed breeder breeding breeze bremen brenda brendan brewer brewery bribery bridge \
bridget bridle briefed briefing briefly bright brighter brightly brighton bringing brisbane bristol britain \
british brittle broader brochure broiled broken broker bronze brooke brooklyn brothel brother brought browser \
bruise bruised bruiser bruising brunch brushed brushing brussel bryant bubble bubbled bubbling bubbly buchanan \
bucket buckle buckled buckling budapest buddhist budding budget buffer buffet buffoon bugger builder building \
bulgaria bulging bullet bullied bullying bumble bumped bumper bumping bundle bungalow bunker bunting burden \
bureau burger burgess burglar burial buried burned burner burnett burning burrow bursting burton burying bushel \
busily business busted buster butcher butler butted butter button buttoned buying buzzed buzzing bypass cabbage \
cabinet calcutta caldwell calendar called caller calling callus calmed calming calvin cambodia camera cameron \
cameroon camilla campaign campbell camped camper camping campus canada canadian canberra cancel canceled candle \
canker canned canning cannon cannot canteen canter canvas canyon capable capacity capital capped captain captor \
capture captured caravan carbon carded cardiff cardigan career careful careless caring carlos carlson carmen \
carolina caroline carolyn carpet carriage carried carrier carroll carrot carrying carter carton cartoon carved \
carver carving cashier casing casino casket caster castillo casting castle castor casual casually casualty \
catalog catcher catching category catered catering catherine catholic cattle caught caused causing caution \
cautious cavern caving ceased ceasing cecilia cedric ceiling cellar cement cemetery censor census center central \
century ceramic cereal ceremony certain chafing chained chaining chairman chamber champion chance chanced chancy \
chandler change changed changer changing channel chapel chaplain chapman chapped chapter charcoal charge charged \
charger charging charity charle charlie charming charter chased chaser chasing chaste chatted chatting chavez \
cheaper cheaply cheated cheater cheating checked checker checking checkout checkup cheered cheerful cheering \
cheese cheesy chelsea chemical chemist cheque cherry cheryl chester chewed chewing chicago chicken chiefly \
childish chilean chiller chimney chinese chipper choice choked choking choose choosing choosy chopped chopper \
chopping choppy chorus chosen church cinder cinema circle circled circling circuit circular circus citizen \
civilian claimed claiming claire clamor clapped clapper clapping clarence clarity clarke clashed clashing \
classic classify classy clatter claude claudia clawed clayton cleaned cleaner cleaning cleared clearer clearing \
clearly cleaver clench clergy cleric clever clicked clicking client clifford climate climax climbed climber \
climbing clinch clinging clinic clinical clinton clipper cloned closed closely closer closest closet closing \
closure clothe clothed clothes clothing clotting cloudy clover clumsy cluster clutch clutter coached coaching \
coaling coarse coastal coaster coated coating coaxed cobbler cockpit cocktail coconut coddle coding coffee \
coffin colder coleman collapse collar collect college collin cologne colombia colonel colonial colony colorado \
colored coloring columbus column combed comber combine combined combing comedian comedy comfort coming command \
comment commerce commit common commonly commune commuter compact company compare compared compass compete \
competed competing complain complement complete completed completing complex compliment compose composed \
composer compound computer concept concern concert conclude concrete conduct confer confess confide confirm \
conflict confuse confused conical connect connie connolly connor conrad consent consider consist constant consul \
consult consumer contact contacted contacting contain content contest context continue contract contracted \
contrary contrast control convert convince convoy cooked cooker cookie cooking cooled cooler cooling cooper \
copied coping copper copying cordial corner cornet cornwall coroner coronet corral correct corridor corrupt \
corset cortez costing costly costume cottage cotter cotton coughed coughing council counsel counted counter \
counting country county couple coupled coupler couplet coupling coupon courage courier course courted courtesy \
cousin covered covering covert coward cowboy coyote cracked cracker cracking crackle cradle crafty cramped \
crampon crashed crashing crater crawford crawled crawling crayon creaky creamy creased create created creating \
creation creative creator creature credible credit credited creditor creeping crested cricket criminal crimson \
cripple crisis critic critical critter croatia croatian crooked crossed crossing crotch crowded crowding crucial \
cruelty cruise cruiser crumble crumbly crummy crunch crunchy crusade crushed crushing crusty crutch crying \
crystal cuckoo cucumber cuddle cuddly culled cultural culture cunning cupboard curate curator curfew curing \
curious curled curling currency current cursed cursor curtain curtis curtsy curved curving cushion custard \
custody custom customer customs cutlery cutter cutting cycled cycling cyclist cylinder cynical cynthia cyprus \
dabble dagger dallas dalton damage damaged damaging damascus damian damper damsel danced dancer dancing danger \
dangle daniel daniela danielle danish danube dapper daring darken darker darkness darling darren dashed dashing \
database dating daughter daunting davide davidson davies dawdle dawson daylight daytime dazzle deacon deaden \
deadline deadly dealer dealing dearly debate deborah debris debtor decade decayed decaying deceive deceived \
deceiving december decent decide decided deciding decision decisive decked declare declared decline declined \
decorate decrease deepen deeper deeply defame default defeat defeated defect defend defended defender defending \
defense deficit define defined defining definite deflate degree delaware delayed delaying delete deleted \
deleting delgado delicate delight deliver delivery delude demand demanded demolish denied denise denmark dennis \
dennison denote density dental dentist denver denying depart departed depend depended depending deport deposit \
deputy derail derive derived deriving derrick descend descent describe desert deserted deserting deserve \
deserved deserving design designed designer designing desire desired desiring desktop desmond despair despise \
despite dessert destiny destroy detach detail detailed detain detect detected detour detroit develop devise \
devoted devour dexter diabetes dialect dialog diamond diaper dickson dictate dictator diesel dietary differ \
differed digest digested digger digging digital dignity dilemma dilute dimmer dimple dining dinner dinosaur \
diploma diplomat dipper direct directed directly director disabled disagree disarm disaster discern disciple \
discount discover discreet discrete discuss disgrace disgust dislike disliked dismal dismiss disorder dispatch \
dispel display disposal dispute distance distant distinct distort distract distress district disturb diverse \
divide divided dividend dividing divine diving division divorce divorced docile docked docket docking doctor \
document dodging doherty dollar dolore dolphin domain domestic dominate dominic domino donald donate donated \
donating donation donkey donnelly doodle doorbell doorstep doorway dorothy dosage dosing dotted dotting double \
doubled doubling doubted doubtful doubting douglas downer downhill download downtown downward dragged dragging \
dragon drainage drained draining dramatic draped draper drastic drawback drawer drawing dreadful dreamer \
dreaming dreary dredge drench dresden dressed dresser dressing dribble drifted drifter drifting drilled drilling \
drinker drinking dripped dripping driven driver driving drizzle droopy dropped dropping drought drowned drowning \
drowsy drudge drummed drummer drumming drunken drying dubious dublin duchess ducked dumped dumper dumping \
dumpling duncan dundee dungeon durham during dusted duster dustin dusting dutiful dwelling dwight dwindle \
dynamic eagerly earlier earliest earned earnest earning earring easier easiest easily easing eastern eating \
echoed echoing ecology economic economy ecuador edging edited editing edition editor edmund eduardo educate \
educated edward effect effort egyptian eighteen eighth eighty either elapse elastic elated elderly eldest \
eleanor elected electing election elective electric elegant element elephant elevator eleven eleventh elicit \
eligible elijah elliot elliott emailed emailing embark embassy emblem embody embryo emerge emerged emerging \
emerson emotion emperor emphasis empire employ employed employee employer emptied emptying enable enabled \
enabling enamel encore ending endless endure energy engage engaged engaging engine engineer england english \
enhance enhanced enigma enjoyed enjoying enlist enormous enough enrage ensure ensured ensuring entail entered \
entering entice entire entirely entitle entitled entrance entrust envelope envious episode equality equally \
equation equator equipped eraser erickson ernest erosion errand errant escape escaped escaping eschew especially \
essence estate esther estimate estonia etching eternal ethical ethiopia ethnic eugene europe european evaluate \
evelyn evening eventual everyday everyone evidence evident exactly examine examined examiner example exceed \
exceeded except excess exchange excite excited exciting exclude excluded excuse excused excusing execute \
executed exercise exhale exhaust exhibit existed existing exotic expand expanded expect expected expend expense \
expensive expert expire expired expiring explain explicit explode exploded exploding explore explored explorer \
exploring export exported expose exposed exposing exposure express extend extended extensive extent exterior \
external extinct extort extract extreme eyebrow eyelid eyesight fabled fabric fabulous facade facebook facial \
facility facing factor factory factual faculty fading failed failing failure fainted fainting fairer fairly \
fairness faithful falcon fallen falling falter familiar family famine famous fancied fancying fantasy farewell \
farmer farming farrell farther fashion fasten fastened faster father fatigue fattened faucet faulkner faulty \
favorite faxing feared fearful fearing feasible feasting feather feature featured february federal feeble \
feedback feeder feeding feeling felicity feline fellow felony female fender ferguson fernandez fernando fertile \
fester festival fetched fetching fetish feudal feverish fiance fickle fiction fiddle fidget fierce fifteen \
fighter fighting figure filing filled filler filling filmed filming filter filtered filthy finale finally \
finance financed finder finding finely finest finger fining finish finished finite finland finley finnish \
fireman firework firing firmly firstly fished fisher fishing fitness fitted fitter fitting fixing fixture \
flaking flannel flapped flapping flared flashed flasher flashing flatly flatten flatter flattery flavor flavored \
flawed fleece fleeing fleeting fleming flemish fletcher flexible flicked flicker flight flimsy flinch flinging \
flipper flirting floated floating flogging flooded flooding floppy floral florence florida florist flowed flower \
flowered flowering flowing fluent fluffy flurry flushed flushing flutter flying focused focusing foible foiled \
folded folder folding foliage folklore folksy follow followed follower fondle fondly fooled fooling foolish \
football footing footpath footstep forage forbid forced forcing forecast forehead foreign foremost forest \
forever forged forgery forget forgive forgiven forgot forlorn format formed former formerly forming formula \
forsake fortress fortune forward fossil foster fought fouled founded founder founding fountain fourteen fourth \
fowler fraction fragile fragment framed framing france francis franco franklin frankly frantic fraser frayed \
frazier freedom freeing freely freeman freeze freezer freezing freight french frenzy frequent fresher freshly \
friction friday fridge friend friendly fright frighten fringe frisky frolic frontier frosty frothy frowned \
frowning frozen frugal fruitful frying fulfil fuller fumble function funded funding funeral fungal funnel \
funnier furious furnace furnish furrow further futile future gabriel gadget gained gaining gallant gallery \
gallon gallop galway gamble gambler gaming garage garbage garble garcia garden gardener gardner gargle garlic \
garment garner garnish garrett garrison gasket gasped gather gathered gazette gazing gender general generate \
generous genetic geneva genius gentle gently genuine geoffrey geology george georgia georgian georgina gerald \
gerard german germany gesture getaway getter getting gibbon gibson gifted giggle gilbert gilded gillian gilmore \
gimmick ginger giraffe girder girdle giving glacier gladly glamor glance glanced glancing glaring glasgow glassy \
glider glimmer glimpse glisten glitter global gloomy gloria glorious glossary glossy glowed glowing glucose \
gluing gluten glutton gobble goblet goblin goggle golden golfer gonzalez goodbye goodman goodness goodwin google \
gordon gorgeous gorilla gossip gossiped govern governed governor grabbed grabbing graceful gracious graded \
grading gradual graduate graffiti graham grainy grammar grander grandma grandpa grandson granny granted granting \
graphic grapple grasped grasping grassy grated grateful grating gratis gravel graves gravity grazing grease \
greasy greater greatest greatly greece greedy greene greeted greeting gregory grenada grenade grieve griffin \
griffith grilled grilling grimace grinder grinding grinned grinning gripped gripping gritty groaned groaning \
grocer grocery groomed groove ground grounded grouping grouse grovel grower growing growled growling growth \
grudge grumble grumpy grungy guarded guardian guarding guessed guessing guidance guided guiding guilty guitar \
gullet gulped gunner gushing gutter guyana guzzle habitat hacker hacking haggle haircut halfway hallway halted \
halter halting hamburg hamilton hammer hammered hammock hamper hampton hamster handbag handed handful handicap \
handing handle handled handler handling handmade handsome hangar hanger hanging hannah hanover hansen hanson \
happen happened happier happiest happily harass harbor hardened harder hardest harding hardly hardness hardship \
hardware harmed harmful harming harmless harmony harness harold harper harriet harris harrison harshly hartley \
harvest harvey hatched hatching hating hatred hatter hauled hauler hauling haunted havana having hawaii hawkin \
hazard headach headed header heading headline headset healed healer healing health healthy heaped heaping \
hearing hearse hearty heated heater heathen heather heating heaved heaven heavier heavily heckle hector heeded \
height heiress helena helium helmet helped helper helpful helping helpless helsinki herald herbal herbert herded \
herder heritage herman hermit hernandez hernia heroic herrera herself hesitate hewitt hiccup hidden hiding \
higgin higher highest highly highway hiking himalaya himself hinder hinged hiring historic history hitched \
hitching hitter hitting hoarse hobble hockey hoffman hoisted holder holding holiday holland holler hollow \
holloway homeless homely homemade homepage homework homicide hondura honest honestly honesty hooded hooked \
hooker hooking hooray hopeful hopeless hoping hopkin hopped hopper hopping horizon horned horner horrible \
horribly horrific horror horton hospice hospital hostage hostel hostess hostile hosting hotter hounded hourly \
housed housing houston hovered hovering howard howell however howled hubert huddle huddled hudson hugged hugging \
humane humanity humble hummed hummer humming humorous humphrey hundred hungary hunger hungry hunted hunter \
hunting hurdle hurled hurling hurried hurrying hurting husband hustle hybrid hydrogen hygiene hyphen iceland \
icicle ideally identify identity idling ignite ignorant ignore ignored ignoring illegal illinois illness \
illusion imagine imagined imitate immense immerse imminent immoral immune imogen impact impacted impair impede \
imperial implied implying import imported importer impose imposed imposing impress improper improve improved \
impulse impure incident incite incline include included income incoming increase indeed indian indiana indicate \
indigo indirect indoor indulge industry infant infect infected infecting inferior infinite inflate inflated \
inform informal informed ingest ingram ingrid inhale inherit initial inject injected injecting injure injured \
injuring inland inmate innocent inquire inquiry insane insect insert inside insider insight insist insole \
inspect inspire inspired install instance instant instead instinct instruct insult insulted insure insured \
insuring intact intake integral intend intended intense intention interact interest interior intern internal \
internet interval intimate invade invasion invent invented inventing invention inventor invert invest invested \
investing investor invite invited inviting invoice invoiced invoke involve involved inward iodine iranian \
ireland ironed ironic ironing irritate isabel isabella islamic island isolate isolated israel israeli issued \
issuing istanbul italian itched itching itself jabbed jacket jackie jackson jagged jailed jailer jailing jakarta \
jamaica jamaican jameson jammed jamming january japanese jargon jarring jasmine jasper javier jealous jealousy \
jeanette jeffrey jenkin jennifer jenning jensen jeremy jerome jersey jessica jessie jester jeweler jewelry \
jewish jigsaw jimenez jingle jittery joanna joanne jockey jogger jogging johanna johnny johnson johnston joined \
joiner joining jointly joking jolted jonathan jordan joseph joshua jostle jotted journal journey jovial joyful \
juanita judged judging judgment judith juggle juggled juggler juggling julian juliana juliet jumble jumped \
jumper jumping junction jungle junior justice justify justin kansas karachi katherine kathleen katrina keeper \
keeping keller kelley kendra kennedy kennel kenneth kentucky kernel kettle keyboard kicked kicker kicking kidded \
kidding kidnap kidney killed killer killing kimberly kinder kindle kindly kindness kingdom kissed kissing \
kitchen kitten kneeling knight knitted knitter knitting knocked knocker knocking knotted knotting knowing \
knuckle korean kristen kristin kuwait labeled labeling labored laborer laboring lacked lacking lacquer ladder \
lagging lagoon lambert lament lancer lancet landed landing landlady landlord landmark language lantern laptop \
largely larger largest larson lasted lasting lastly latched lately latest lather latter latvia laughed laughing \
laughter launch launched launder laundry lauren laurence lavatory lavish lawful lawrence lawson lawsuit lawyer \
laying layout leadding leaded leader leading leaflet league leaked leaking leaned leaning leaped leaping learned \
learner learning leased leasing leather leaving lebanon lecture lecturer leftover legacy legally legend legion \
leipzig leisure lemming lemonade lender lending length lengthy lenient leonard leopard leslie lessen lesser \
lesson lester letter letting lettuce leveled leveling leverage levied liable liberal liberia liberty library \
license licensed lichen licked licking lifeboat lifetime lifted lifting lighted lighter lighting lightly \
lightning likable likely likewise liking lillian limber limited limiting limped limping lindsay lindsey linear \
linger lining linked linking lipstick liquid liquor lisbon lisping listed listen listened listener listing \
literacy literary litter little living lizard loaded loader loading loafer loaned loaning lobster locally locate \
located locating location locked locker locket locking lodger lodging logged logging logical logout loiter \
london lonely longer longest looked looking lookout looming looped loosed loosely loosen looser loosing looting \
lorraine losing lotion lottery louder loudly louisa louise lounge lovely loving lowell lowered lowering lowest \
loyalty lucille lucinda luckily luggage lumber lunatic luncheon lunged luring lurking luxury macdonald machine \
mackenzie madame madison madness madrid magazine magical magician magnet magnetic maiden mailbox mailed mailing \
mainland mainly maintain majesty majority makeup making malawi malaysia malcolm mallet mammal mammoth manage \
managed manager managing mangle maniac manifest manila mankind manned manner manning mansion mantle manual \
manually marble marched marching marcus margaret margin marginal marian marianne marilyn marine marion marital \
marjorie marked marker market marketed marking marlene marquez marred marriage married marrying marsden marshall \
martha martial martin martina martinez marvel marvin maryland mascot mashed masked masking massacre massage \
massive master matchbox matched matching material maternal mathilda matilda mating matted matter mattered \
matthew mattress mature mauled maureen maurice maxima maxine maxwell maynard mccarthy mcdonald mcgregor mckenzie \
meadow meaning meantime measly measure measured mechanic meddle medical medicine medieval medium meeting melanie \
melinda melissa mellow melody melted melting member memoir memorial memory memphis mended mender mendez mending \
mendoza mental mentally mention mentor mercedes merchant mercury meredith merely merged merger merging mermaid \
merrill message messed messing meteor method metric mettle mexican mexico michael michele michelle michigan \
midday middle midnight mighty migrate milder mildly mildred mileage military milked milking miller million \
minced mincer mineral mingle minima mining minister ministry minority minute miracle miranda miriam mirror \
misery mislead missed missile missing mission missouri mistake mistaken mistress mitchell mitten mixing mixture \
moaned moaning mobbed mobile mobility mocked mocking moderate modern modest modified modify module mohammed \
moisture moldova molten moment momentum monaco monarch monday monetary mongolia monica monitor monkey monopoly \
monster montana monthly montreal monument morale morality morbid moreno morgan morning moroccan morocco morose \
morris morrison morsel mortal mortar mortgage morton moscow mosque mosquito mostly mother motion motioned motive \
motorist motorway mottled mountain mounted mounting mourning mouthed mouthful movement moving mowing muddle \
mueller muffin muffle muffled mugged mugging muhammad mulled mullet mullin multiple multiply mumbai mumble \
munich murder murdered murderer muriel murmur murphy murray muscle museum mushroom musical musician musing \
muslim mustard muster mutiny mutter mutton mutual muzzle myanmar myrtle myself mystery mystic nagged nagging \
nailed nailing nairobi namely namibia naming napier napkin naples napping narrate narrator narrow natalia \
natalie natasha nathan nation national native natural nature naughty nausea navarro nearby nearer nearest nearly \
neater neatly nebraska necklace needed needing needle needless negate negative neglect neighbor neither nelson \
nephew nervous nestle nestled nettle network neutral nevada newborn newcomer newest newman newton nibble nicely \
nichol nichola nicholas nickel nickname nicole nielsen nigeria nigerian nimble nineteen ninety nipped nipple \
nobody nodded nodding nominate nonsense noodle norfolk normal normally norman normandy norris northern norton \
norway nostril notable notably nothing notice noticed noticing notify noting notion novelist november novice \
nowadays nowhere nuclear nugget nuisance numbed number numbered numbness numerous nursed nursery nursing nutmeg \
nuzzle obeyed obeying object objected oblige obliged oblong obrien obscure observe observed observer obstacle \
obtain obtained obtuse obvious occasion occult occupied occupy occurred oconnor october octopi offend offended \
offender offense offered offering offhand office officer official offline offset ointment oklahoma oldest oliver \
olivia olympic omelet omitted ongoing online ontario onward oozing opaque opened opener opening operate operated \
operator opinion opponent oppose opposed opposing opposite optical optimist option optional oracle orange orator \
orchard ordeal ordered ordering orderly ordinary oregon organic organise organism orient origin original orlando \
ornate orphan osborne ottawa ourselves outbreak outcast outcome outdoor outfit outgoing outlaw outlet outline \
outlook output outrage outrun outside outsider outward ovation overall overcoat overcome overdue overflow \
overhead overlook overseas oversee overtake overtime owning oxford oxygen oyster pacific pacify pacing package \
packed packer packet packing padded padding paddle paddled paddling padilla padlock pained painful painless \
painted painter painting paired pakistan palace palette paling pallet pallor palmer paltry pamela pamper panama \
panned panther panting pantry parade paradise paraguay parallel parcel parched pardon parent parish parisian \
parity parked parker parking parlor parody parole parrot parsley parson partake parted partial particle parting \
partly partner passage passed passing passion passive passport password pasted pasting pastry pasture patent \
patently paternal pathetic patience patient patiently patricia patrick patrol patron patted pattern patting \
patton pauline paulson paused pausing pavement paving pawned payable payback paying payment payout paypal \
payroll peaceful peaked peanut pearly pearson peasant pebble pecked peculiar peddle pedigree peeled peeling \
peered pelican pellet pelted pelvic pencil pending penelope penguin penned pension people pepper perceive \
percent perched perfect perform perfume perhaps period periodic perish perkin permit persian persist person \
personal persuade pester petersen peterson petrol petted petting phantom pharmacy philip phillip phoebe phoenix \
phoned phoning phrase phyllis physic physical pianist picked picker picket picking pickle picnic picture pierce \
pierced pigeon pilgrim pillar pillow pimple pinched pinching pining pinned pinning pioneer piping pirate pistol \
pitcher pitching pitied pitted placard placed placid placing plague plainly planet planned planner planning \
planted planter planting plaque plasma plaster plastic plateau plated platform plating platter played player \
playful playing pleaded pleading pleasant please pleased pleasing pleasure pleated plenty plight plodding \
plotted plotting plucked plugged plugging plumber plumbing plumed plunder plunge plunged plunger plural plymouth \
plywood poacher pocket podium poetry pointed pointer pointing poison poking poland police policy polish polished \
polite politely politic polled polling ponder poodle poorer poorly popped popping popular porridge portable \
porter portion portland portrait portray portugal posing position positive possess possible possibly postage \
postal postcard postcode posted poster posting postpone posture potato potent potted potter pottery poultry \
pounce pounding poured pouring poverty powder powell powerful practice prague praise praised praising prance \
prancing prayed prayer praying preach preached preacher preaching precede precious precise predator predict \
preening preface prefer preference preferred preferring pregnant premier premise premium preorder prepaid \
prepare prepared presence present presented presenting preserve preserved preserving preset president pressed \
pressing pressure prestige preston pretend pretty pretzel prevail prevent prevented preventing previous priced \
pricing prickle prickly priest primary primer prince princess printed printer printing priority prison prisoner \
pristine privacy private probable probably problem proceed process procession processor prodded prodigy produce \
produced producer product profession professor profile profit profound program progress prohibit project \
projected projecting prolong promise promised promote promoted promoter promoting prompt prompted prompting \
promptly proper properly property prophet proposal propose proposed prospect prosper protect protected \
protecting protein protest protested protesting protocol proton proudly proved proven provide provided province \
proving provoke pruned prying public publicly publish pucker pudding puddle puerto puffed puffin pulled pulley \
pulling pulsing pummel pumped pumping pumpkin punched punching punctual pundit pungent punish punished punter \
puppet purchase purely purged purify purity purple purpose purring pursue pursuit pushed pushing putter putting \
puzzle puzzled pyramid quaint qualify quality quantity quarrel quarry quarter quartz quaver quebec quench \
quentin question queued queuing quicker quickest quickly quieter quietly quirky quitting quiver quoted quoting \
rabbit rabble rachel racial racing racism racist racked racket racking radiant radiator radical radish raffle \
raging raided raider railing railroad railway rainbow raincoat rained rainfall raining raised raisin raising \
raking rallied ramble ramirez rammed ramona rampage ramsey rancid randall randolph random ranged ranger ranging \
ranked ranker ranking ransom ranted rapidly rapping raptor rarely rascal rashly rather rating rational rattle \
ravage ravine raving raymond reached reaching reacted reacting reaction reader readied readily reading realise \
realised reality really reaped reared reason reasoning rebecca reboot rebound rebuild rebuke recall recalled \
recede receipt receive received receiver receiving recent recently recess recipe recite reckless reckon recoil \
record recorded recorder recover recovery recruit rectal recycle recycled redeem reduce reduced reducing referee \
reference referral referred referring refill refine refined reflect reform refresh refuge refugee refund \
refunded refusal refuse refused refusing refute regain regard regarded regarding regime regina reginald region \
regional register registry regret regular regulate rehash reject rejected relate related relating relation \
relative relaxed relaxing release released relent relevant reliable reliance relied relief relieve religion \
relish relive reload relying remade remain remained remaining remake remark remedy remember remind reminded \
remiss remold remote removal remove removed removing renata render rendered renewed renewing renowned rental \
rented renting repaid repair repaired repairer repeat repeated repent replace replaced replica replied replying \
report reported reporter republic request require required resale rescue rescued rescuing research resemble \
resent reserve reserved reserving resident resign resigned resigning resist resisted resolution resolve resolved \
resort resource respect respond response restart rested resting restless restore restored restrict result \
resulted resume retail retailer retain retained retaining retina retire retired retiring retort retrace retreat \
return returned reunion reveal revealed revenge revenue revere reverse reversed revert review reviewed revise \
revision revival revive revoke revolt revolution revolve revolver reward rewarded rewarding reynold rhodes \
rhymed rhyming rhythm ribbon ricardo richard richer richest richmond ridden riddle riding rigged rightly ringer \
ringing rinsed rinsing rioting ripped ripping ripple rising risked risking ritual rivera roadside roadway roamed \
roaming roared roaring robbed robber robbery robbing robert roberta roberto robinson rocked rocker rocket \
rocking rodney roland rolled roller rolling romance romania romanian romantic romero ronald roommate rooster \
rooted roping rosalie rosalind rosario rosemary roster rotary rotate rotation rotted rotten rotting roughly \
rounded rounding roused rousing routed router routine roving rowing rowland roxanne royalty rubbed rubber \
rubbing rubbish rudder rudely rudolph ruffle rugged ruined ruining ruling rumble rummage rumpled runner running \
runway rushed rushing russell russia russian rustic rustle ruthless rwanda sabotage sabrina sacked sacking \
sacred sadden saddle sadness safely safety saffron sagging sailed sailing sailor salary salazar salesman saliva \
sallow salmon saloon salted salute salvage salzburg samantha sample sampled sampler sampling samuel samurai \
sanchez sandal sander sanding sandra sandwich sanity santiago santos sapped sardine satire satisfy saturday \
saucepan saucer saunder sausage savage saving savior savory sawing sawyer saying scabbed scabby scaled scamper \
scandal scanned scanner scanning scanty scarce scarcely scared scaring scarlet scarred scarring scatter scenario \
scenery scenic scented schedule scheme schmidt scholar school schooled schultz schwartz science scissor scoffed \
scolded scolding scooped scooter scorch scotland scottish scoured scramble scrape scraped scraper scraping \
scratch scrawl scream screamed screaming screen screened screwed screwing scribble scribe script scroll \
scrolling scrubbed scruffy scrutiny seafood sealed sealer sealing seamless search searched seaside season \
seasonal seasoned seasoning seated seattle seaweed secede second secondly secrecy secret secretly section sector \
secure secured securely securing security sedate seduce seeing seeking seemed seeming seeped seethe seized \
seldom select selected selecting selection selfish seller selling semester seminar senate senator sender sending \
senegal senior sensible sentence separate sequel sequence serbia serbian serene sergeant sergio serial series \
serious sermon servant served server service serviced serving session setback setter setting settle settled \
settling seventh seventy several severe severely seville sewage sewing sexist sexual shabby shaded shadow shaggy \
shaken shaker shaking shallot shallow shaman shamed shampoo shanghai shannon shaped shaping shared sharing \
sharma sharon sharpen sharper sharply shatter shaved shaver shaving sheath shedding sheila sheldon shelley \
shelter shelton shepherd sherbet sheriff sherman sherry shield shifted shifting shifty shilling shimmer shined \
shingle shining shipment shipped shipping shirley shiver shocked shocking shoddy shoelace shooter shooting \
shopped shopper shopping shortage shortcut shorten shorter shortly shorty shoulder shouted shouting shoved \
shovel shoveled shower showing shrank shrewd shriek shrill shrine shrink shroud shrunk shudder shuffle shunned \
shutter shutting shuttle sibling sicily sicken sicker sickle sickly sideway sidney sierra sighed sighing sighted \
signal signaled signed signing signup silence silent silently silicon silken silver similar simmer simmon simone \
simple simpler simplest simply simpson sincere sinclair sinful singer singing single singular sinister sinking \
sinned sinner sinning siphon sipped sipping sister sitcom sitter sitting situated sixteen sizeable sizzle skater \
skating skeleton sketch skewer skidding skiing skilful skilled skimmed skinner skinny skipped skipper skipping \
skyline slammed slamming slander slanted slapped slashed slashing slater slaughter slavery sledding sledge \
sleeper sleeping sleepy sleeve sleigh slender sleuth slicer slicked slider sliding slight slighter slightly \
slimmer slinging slipped slipper slippery slipping sliver slobber slogan sloped sloping sloppy slotted slouch \
slovakia slovenia slowed slower slowing slowly sludge sluggish slumber slumped smacked smaller smallest smarter \
smashed smashing smelled smelling smelly smiled smiling smitten smoked smoker smoking smooth smoothed smoothly \
smother smudge smuggle snapped snapping snappy snatch snatched sneaker sneaky sneeze sneezed sneezing sniffed \
sniffing snigger sniper snippet snobby snooze snored snoring snorkel snorted snowed snowing snowman snuggle \
snyder soaked soaking soared soaring sobbing soccer social socially society socket sodden sodium soften softened \
softer softly software soiled solace solder soldier solely solemn solitary soloist solution solved solvent \
solving somalia somebody someday somehow someone somerset sometime somewhat sonnet sooner soothe soothed sophia \
sophie soprano sordid sorely sorrow sorted sorting sought sounded sounder sounding soundly source sourly \
southern souvenir sowing spacious spanish spanned spanner spared sparing sparked sparking sparkle sparrow sparse \
spatter spatula speaker speaking special specially species specific specify specimen speckle speech speeded \
speeding speedy spelled spelling spencer spender spending sphere spider spiked spilled spilling spinach spinal \
spinner spinning spiral spirit spitting splash splashed splashing spleen splendid splice splinter splitting \
splutter spoiled spoiling spoken sponge sponsor spooky sporty spotted spotting spotty spouse spouted sprain \
sprang sprawl sprayed spraying spread spring springing sprinkle sprinter sprite sprout sprouted spruce sprung \
spurned spurred squabble squadron squalid squander square squash squashed squeak squeaked squeal squeeze \
squeezed squint squirm squirrel squirt stabbed stable stacked stacking stadia stafford stagger staging stagnant \
stained staining stalked stalker stalled stallion stamina stammer stamped stamping stance standard standing \
stanley staple stapler starch starchy stardom stared staring starlet starred starry started starter starting \
startle startled starve starved starving stated stately static stating station statue stature status statute \
stayed staying steadily steady stealing stealth steamed steaming steeple steered steering stefan stella stench \
stephen stepped stepping stereo sterile sterling sternly steven steward stewart sticker sticking sticky stifle \
stigma stimuli stinger stinging stingy stinking stirred stirring stirrup stitch stitched stitching stocked \
stocker stocking stockist stoked stolen stomach stooped stooping stoppage stopped stopper stopping storage \
stored storing stormy straight strain strained straining strand strange stranger strapped strategy strayed \
streak streaky stream streamed streaming street strength stress stressed stretch strewn stricken strict strictly \
stride strike striker striking string stringing stripe striped stripped stripper stripping strive striving \
strode stroke stroked stroking stroll strolled stroller strolling strong stronger strongly struck struggle \
stuart stubble stubborn studded student studied studio studying stuffed stuffing stuffy stumble stumbled \
stumbling stumped stunned stunning stupid stupor sturdy stutter stylish subdue subject sublet sublime submit \
subsidy subtle suburb subway succeed success sucked sucker sucking suckle suction sudden suddenly suffer \
suffered suffolk sugary suggest suicide suitable suitcase suited suiting suitor sulking sullen sullivan sultry \
summary summed summer summit summon sunday sundown sunglass sunken sunlight sunrise sunset sunshine superb \
superior supper supplied supplier supply support suppose supposed supreme surely surface surfed surfer surfing \
surgeon surgery surgical surmise surname surplus surprise surround survey survival survive survived survivor \
susanna suspect suspend sussex sustain sutton suzanne swagger swallow swanky swansea swanson swapped swapping \
swarmed swatch swayed swearing sweated sweater sweating sweaty sweden swedish sweeper sweeping sweeten sweetly \
swelled swelling swerve swerved swiftly swimmer swimming swindle swinging swirled switch switched switching \
swivel swollen sydney sylvia symbol symbolic symmetry sympathy symphony symptom synced syncing syndrome synopsis \
syrian system tabitha tablet tabloid tackle tackled tackling tactful tactic tadpole tailor taiwan takeaway \
taking talent talented talked talker talking taller tallest tallow tamara taming tamper tangent tangle tangled \
tanker tanned tanner tanning tanzania tapped tapping target targeted tariff tarnish tasted tasting tatiana \
tattered tattle tattoo taught tavern taxation taxing taxpayer taylor teacher teaching teamed teammate teapot \
tearful tearing teased teasing teaspoon tedious teenage teenager teepee teething tehran telegram teller telling \
temper tempest template temple tempted tempting tenant tended tendency tender tending tendon tennis tenser \
tension tentacle tenure terence teresa terminal termite terrace terrain terrell terrible terribly terrific \
terrify terror tested tester testify testing textbook texted textile texting texture thailand thanked thankful \
thanking thatcher theater theirs thelma theodore theology theory therapy thereby theresa thermal thesis thicken \
thicker thieving thimble thinker thinking thinner thirdly thirsty thirteen thirty thistle thomas thompson thorax \
thornton thorny thorough though thought thousand thrash thread threat threaten thrift thrifty thrill thrilled \
thriller thrive throat throne throng throttle through thrower throwing thrown thrush thrust thumped thunder \
thursday thwart thyroid ticked ticket ticking tickle tickled tickling tidied tiffany tighten tighter tightly \
tilted timber timely timing timothy tinged tingle tinker tinned tipped tipping tirade tiring tissue titled \
toasted toaster tobacco toddler toffee together toilet tolerate tomato tomorrow tongue tonight tonsil tooled \
topped topper topping topple torment toronto torrent tortoise torture tossed tossing totally totter touched \
touching toughen tougher toulouse toupee toured touring tourism tourist toward towards towing traced tracing \
tracked tracker tracking tractor traded trader trading traffic tragedy tragic trailer trained trainee trainer \
training traitor trample trampled trance tranquil transfer transit transmit trapped trapper trapping trashed \
trauma travel traveled traveler travesty treading treason treasure treated treating treaty treble trekking \
trellis tremble trembled tremor trench trendy trespass trevor triangle tribal tribunal tribute tricked tricking \
trickle tricky trifle trifling trigger trimmed trimmer trimming trinity trinket triple triplet tripod tripped \
tripping tristan triumph trivial trolley trooper trophy tropical trotted trotting trouble troubled trough \
trounce trouser truant trudge truffle trumped trumpet trusted trustee trusting trusty truthful trying tucked \
tucker tucking tuesday tugged tugging tuition tumble tumbled tumbler tumbling tumult tundra tuning tunisia \
tunnel turban turbine turkey turkish turmoil turned turner turning turnip turnover turtle tuscany tuxedo tweezer \
twelfth twelve twenty twilight twinkle twisted twister twisting twitch twitter tycoon typhoon typical typing \
tyrone uganda ukraine ultimate umbrella unable unaware unborn unclean uncover undergo undone undress unearth \
uneasy uneven unfair unfold unhappy unhurt unicorn uniform unique unison united uniting universe unjust unkind \
unknown unless unlike unlikely unload unlock unlocked unmask unpack unpacked unpaid unplug unreal unrest unroll \
unruly unsafe unseen unstable unsure untidy untied untold untrue unused unusual unveil unwanted unwell unwind \
unwise upbeat upcoming update updated updating upgrade upgraded upheld uphill uphold upkeep uplift upload \
uploaded upright uproar uproot upside upstair upward urgency urgent urgently urging ursula uruguay usable useful \
useless username usually utility utrecht utterly vacancy vacant vacate vacation vaccine vacuum vagina vagrant \
vaguely valdez valerie valiant validity valley valuable valued valuing vandal vanessa vanguard vanilla vanish \
vanished vanity variable varied variety various varying vasquez vaughan vaughn vaulted vehicle veiled velcro \
velvet vendor venice venous vented venture verbal verbose verdict verify vermin vermont vernon verona veronica \
versed version versus vertical vessel vested veteran vetted viable vibrant vicious victim victor victoria \
victory vienna vietnam viewed viewer viewing vilify village villager vincent vineyard vintage violate violated \
violence violent violet violin virgin virginia virtual virtue visible vision visited visiting visitor visual \
vitamin vivian voiced volcano volley voltage volume vomiting voodoo vortex voting voucher voyage vulgar vulture \
waddle waffle wafting wagged waging wagner wailed waited waiter waiting waitress waived waiver waking walked \
walker walking wallace walled waller wallet wallow walnut walrus walter walton wander wandered wandering wanted \
wanting warden wardrobe warfare warlock warmed warmer warming warmly warmth warned warning warped warrant \
warranty warren warring warrior warsaw wartime warwick washed washer washing wasted wasteful waster wasting \
watched watcher watching watered watering watery watkin watson waving waxing weaken weaker weakness wealth \
wealthy weapon wearer wearing weasel weather weaver weaving webbed webpage website webster wedding wedged \
weeding weekday weekend weekly weeping weighed weighing weight welcome welcomed welded welder welfare wendell \
western wetter whacked whaler whaling whatever wheeled wheeler wheeze wheezing whenever whereas wherever whether \
whimper whined whiner whining whipped whipping whirled whisker whiskey whisky whisper whistle whistled whitaker \
whiter whitney whittle whoever wholly wicked wicket widely widened widening widget widower wielded wiggle wilcox \
wilder wildlife wildly wilfred wilkin willard william willie willing willis willow wilson wilting winded winding \
windmill window windsor winifred winked winking winner winning winston winter wiping wiring wisdom wisely wished \
wisher wishing wistful withdraw withdrew withheld within without witness wizard wobble wobbly wombat wonder \
wondered wondering wooded wooden woodland woodward woodwork woolen woolly worded wording worked worker working \
workout workshop wormed worming worried worrying worsen worsened worship worthy wounded wounding wrangle wrapped \
wrapper wrapping wreath wrecked wrecking wrench wrestle wrestled wrestler wretch wretched wriggle wright \
wringing wrinkle writer writhe writing written wrongly wyoming yanked yawned yawning yearly yearning yelled \
yelling yellow yelping yielded yielding yogurt yolanda yonder younger youngest yourself yourselves yuppie yvonne \
zachary zambia zealous zenith zigzag zimbabwe zipped zipper zipping zodiac zoomed zooming" }

words! { GERMAN, "\
abfahrt ablehn achtung adress ahnlich aktuell alltag anbiet anfang anfrag angebot angehor ankunft anmeld annehm \
anstatt antrag antwort anwalt anzahl anzieh apothek arbeit aufgab aufhor aufmach aufnehm aufpass aufsteh auftrag \
ausflug ausgab ausgang ausland ausmach aussag ausseh ausserd auswahl ausweis auszieh bahnhof balkon bargeld \
batteri beacht bedeut befind begleit begrund behalt behaupt behord beitrag bekannt bekomm belast beliebt bemerk \
benutz berechn bereich bereit bericht beruhmt beschw besitz besond besteh bestell besuch betrag betreu betrieb \
beweis bewerb bezahl bezirk brauch comput daheim danach dankbar darauf daraus deshalb desweg deutsch dezemb \
direkt dorthin drauss ebenso ehepaar ehrlich einfach eingang einkauf einlad einmal einsatz einwohn einzel \
einzieh einzig empfehl endlich england entdeck enthalt entlang entsteh entwed erfahr erfolg erfull erhalt erkenn \
erklar erlaub erreich ersetz erwach erwart erzahl europa fahrrad famili februar fernseh fertig flasch fleisch \
flughaf freitag freund frisch garanti gebaud gedank geduld gefahr gefall gefuhl gegend gegenub gehalt geheim \
geling gemeind genauso geniess gepack gericht gering gesamt gescheh gesetz gesicht gesund getrank gewicht gewinn \
gewitt gleich gultig gunstig handel heimat heirat heizung herbst herunt heutig himmel hinweis hoflich hundert \
januar jedoch jemand kalend kapitel kaputt katalog kilomet klingel kolleg komisch kontakt konzert korrigi \
kraftig kritik kultur kundig kunstl langsam leicht losung maschin medizin meinung mensch minist mitkomm mitmach \
mitnehm mittag mitteil mittel moglich moment montag nachbar nachst nebenan niedrig niemal niemand nirgend normal \
notfall novemb obwohl offnung ordnung packung patient person pflanz pflicht politik polizei praxis privat \
produkt projekt prufung rathaus region reinig repari reservi richtig sammel samstag schaff schalt schein schenk \
schick schiff schild schlaf schlag schlank schlimm schmeck schmerz schnell schrank schreib schritt schutz \
schwach schwarz schweiz schwest schwimm sendung septemb sofort sonntag sozial speich spezial spiegel sprach \
sprech spring stadion standig station strand strass streck streich streit streng student studium tabell tablett \
taglich tatsach technik telefon teppich termin toilett traurig trotzd uberall umsonst umsteig umwelt umzieh \
unfall urlaub ursach verbess verbiet verbind verbot verein vergess vergnug verhalt verhind verkauf verkehr \
verlang verlass verletz vermeid vermiet verpass versich versteh versuch verteil vertrag vertrau verwend viertel \
vollig vorbei vorgest vorhand vorhin vornam vorteil vortrag vorwart wahrend wechsel wegfahr wenigst wichtig \
wohnort wohnung wunsch zeichn zeitung zentral zentrum zerstor zeugnis zufried zuhaus zukunft zulass zuruck \
zusamm zuschau zustand zustimm zwanzig zwisch" }

words! { FRENCH, "\
absenc accord acheter acteur activit admettr adresse affair agreabl ailleur aimabl ajouter allumer ancien anglai \
animal annuler appeler appuyer argent arreter arrier arriver articl artist assiet assurer attendr attirer auquel \
autant auteur automn autorit autour avancer avantag avenir aventur avertir avocat baisser balanc banlieu bateau \
besoin bientot billet blanch blesser blessur bonheur bonjour bonsoir boucher bouger bouteil boutiqu bouton \
branch bureau cabinet cacher cadeau camarad campagn capabl casser celebr centain central certain chacun chaleur \
chambr changer chanson chanter chapeau chapitr charger chasser chateau chemin chemise cheveu chiffr chinoi \
choisir cinema citoyen classe client climat collegu collin combien comment commerc commun complet compter \
concert conclur conduir conduit conseil content contrat control copain correct coucher couleur couloir couper \
courag courant courir course cousin couteau couter couvert couvrir credit critiqu croiser cuisin cultur curieu \
danger danser debuter decembr decider decrir defaut defendr definir demain demand depart dependr depense dernier \
derrier desirer dessin dessou detail detruir deuxiem devant devenir devoir dialogu dimanch diriger distanc \
domain dommag donner dormir dossier douleur douter douzain echouer economi ecouter ecritur effacer efficac \
effort eglise element elever emmener emploi employ endroit energi enfanc enfant enlever ennemi ennuyer enquet \
ensembl ensuit entendr entier entrer environ envoyer epouser erreur espagn esperer espoir esprit essayer essenc \
etablir etager eteindr etonner etroit etudier eviter examen excuse excuser exempl exercic exister facteur factur \
faillir falloir fatigu faveur favori fenetr fermer fevrier ficher fontain footbal former formul fournir fraich \
francai frapper fromag gagner garanti garcon garder general gentil glisser grandir gratuit guerir guichet \
habiter habitud hasard hauteur hesiter heureu histoir honnet hopital horair horlog horribl humain humeur identit \
ignorer immense immeubl inquiet inscrir instant interet inutil inviter italien janvier japonai jardin joindr \
joueur journal juillet justic lacher laisser langag lecteur lectur lequel libert livrer loisir lorsqu lumier \
machin magasin magazin maison maladi manger manier manquer marcher mariag marier marquer matier mauvai mechant \
medecin memoir menacer mensong mentir messag mesurer metier meurtr milieu million ministr minuit miroir modern \
moindr moment mondial monnai montagn monter montrer morceau mourir musiqu nation naturel nerveu niveau nombreu \
nommer normal nourrir nouveau nouvel novembr numero obliger obtenir occuper octobr offrir oiseau opinion opposer \
oublier ouvert ouvrier ouvrir panneau papier paquet paraitr pareil parent parfait parfoi parking parler partir \
partout passag passer passion patienc patient patron paysag peindr peintur pencher pendant penser pension person \
phrase placard placer plaindr plaisir plateau pleurer plonger plupart plutot poisson portabl porter possibl \
poubel poulet pousser pouvoir pratiqu precieu premier prendr prenom presenc present presqu presser preter \
prevoir princip prison problem produir produit profond projet prouver provinc public publier puisqu qualit \
quantit quarant quelqu quitter raison ramener rapport reagir realit recent reculer reduir refair refuser regard \
region relever remettr remplir rentrer reparer repeter repondr reponse reposer reproch reseau resoudr respect \
rester retard retenir retirer retour retrait reunion reunir reussir reussit reveil reveler revenir revoir rideau \
rigoler rivier robinet rouler royaum saison salair saluer samedi sauter sauvag sauver savoir scienc scolair \
second secour secret secteur securit sejour semain sembler sentir separer serieu serrer serveur servic serviet \
servir signer silenc sincer situer social societ soigner soixant soldat soleil sommeil sommet sonner sortir \
soudain souffl sourir souvent special sportif station studio suffir suisse suivant superb surfac surtout system \
tableau talent tarder tempet tenter terrain terribl theatr ticket toilet tomber toucher toujour tourist tourner \
tousser traduir traiter travail tromper trouver urgenc vacanc valeur valise valoir vendeur verser version victim \
victoir villag violenc visibl visiter vitesse vivant voisin voitur volant volont vouloir voyager" }

words! { SPANISH, "\
abierto abogado abrigo abuela abuelo acabar accion aceptar acercar acordar actitud activo actual acuerdo adelant \
adentro admitir adulto afectar afuera agencia agosto agregar ahorrar alegrar alegria aleman alguien alguna \
alguno almacen altura alumno ambient amenaza amistad amplio anadir analisi anciano animal antiguo anuncio \
aparato aplicar apoyar aprobar aquella aquello archivo arriba arroyo artista asiento asistir aspecto asunto \
atender aumento autobu avanzar avenida avisar ayudar azucar bailar balcon bandera barato barrio bastant basura \
bateria bebida belleza billet blanco bonito botella buscar cabeza cadena cajero calculo calidad calient camara \
cambiar cambio caminar camino camion camisa campana campeon cancion cansado cantant cantar capital capitan \
cargar carino carpeta carrera cartera casado causar central centro cercano cerrado cerrar cerveza champu charlar \
chileno ciencia cierto ciudad client cobrar cocina cocinar colegio colgar colocar comedor comida comprar confiar \
conmigo conocer consejo consumo contar contigo contra control copiar corazon corbata correo correr cortar costar \
crecer credito cristal critica critico cruzar cuadro cuando cuanto cuarto cubrir cuello cuenta cuento cuerpo \
cuidado cuidar culpabl cultura cumplir curioso debajo decidir decimo dedicar defecto defensa definir delant \
delgado demanda dentro deport derecha derecho desear destino detall detener diario dibujar dibujo dificil dinero \
directo dirigir diseno diverso dividir doctor domingo dormir durant efecto eficac ejemplo elegant elegir embargo \
emocion empezar emplear empleo empresa encima energia enfermo enfrent enojado ensenar entero entonc entrada \
entrar entrega enviar equipaj equipo escapar escena escoger escuela espacio espalda espana espanol especi espejo \
esperar esposa esposo esquina estado estilo estudio europa europeo evident evitar exacto examen excepto exigir \
existir experto extrano extremo fabrica factura faltar familia famoso febrero fiesta figura fisico formar \
fracaso francia fregar fresco fuerza fumador funcion futuro galeria ganador gastar general gerent gracia gritar \
guardar guerra gustar hablar helado hermana hermano hermoso hombro horario huesped humano humedad idioma iglesia \
imagen impedir imponer incluir incluso indicar inform ingreso iniciar inocent instant inutil invitar italia \
jardin jugador juguet juicio ladron lagrima lampara lanzar lastima leccion lectura lejano lengua lenguaj ligero \
limitar limpiar limpio liquido llamada llamar llegada llegar llenar llevar llorar llover lluvia lograr luchar \
madera maestro maleta manana manejar manera maquina marcar marcha marido materia maximo mayoria mediant medico \
medida mejorar memoria mensaj mentir mentira menudo mercado merecer mesero metodo mezclar miembro mientra \
miercol militar millon minimo minuto mirada mision mochila modelo moderno molesto momento moneda montana montar \
moreno mostrar motivo muerto mundial musica musico nacion natural navegar navidad negocio ninguna ninguno \
nombrar normal nosotro noticia novela nuestro numero objeto obligar obtener ocasion oceano octubr ocupado ocupar \
ocurrir oferta oficial oficina ofrecer olvidar opinar opinion ordenar origen orilla oscuro pacient padecer \
pagina palabra palacio panuelo paquet parada paragua parecer pareja parient partida partido partir pasado pasear \
pasillo pasion patata pedido peligro pelota pensar pension pequeno perder perdida perdon periodo permiso persona \
pesado pescado pescar piedra pierna pintar pintor pintura piscina placer planeta planta pobreza poesia policia \
popular portugu poseer posibl precio preciso premio prensa present presion prestar previo primero prision \
privado probabl probar proceso pronto propio proximo prueba publico pueblo puerta puesto quedar quejar quemar \
querer querido quitar rapido rebaja receta recibir recibo recient recoger recurso reducir referir reforma \
regalar regalo region regular remedio reparar repent repetir reserva respeto retirar retraso reunion reunir \
revisar revista riesgo rodear rodilla romper sabado salida saltar saludar saludo salvar seccion secreto sector \
seguida seguir segundo seguro semana semilla senalar senora sentido sentir separar servir severo siempr similar \
sincero sistema sobrino social soldado soledad solido soltero sombra sonido sonreir sonrisa suceder sueldo \
sufrir sugerir suponer surgir tabaco talento tamano tambien tampoco tardar tarjeta teatro tecnica tecnico templo \
teoria tercero termino terreno terribl testigo tiempo tienda tierra titulo toalla todavia torcer trabajo trafico \
tratar treinta triunfo turista ultimo unidad usuario valido valient variar vecino vender ventaja ventana verano \
verdad verdura version vestido vestir viajar viajero victima viento virtud visita visitar volumen volver vuelta" }

words! { ITALIAN, "\
abitant abitar accader accant accord acquist addoss affatt affitt aiutar alberg allegr alquant altezz ambient \
amiciz analis animal annunc ansios anticip anzian apertur apparir appetit appunt arrivar articol artist aspett \
assegn assent assumer attent attivit attual aument autobus autorit autunn avanzar avvenir avviar avvocat aziend \
bagagl bagnar ballar bambin bandier batter bellezz benzin bevand bisogn bloccar botteg bottigl bruciar bussar \
buttar cambiar campagn campion cantant cantar canzon capacit capell capital capitan capitol cappell carcer \
caricar castell catalog categor cattiv causar celebr centin central cercar certezz cervell chiamar chiamat \
chieder chitarr chiuder chiunqu ciascun classic client cognom colleg collin colloqu colpir coltell commerc \
commess compagn compier compit complet comporr comprar comunit comunqu concert concret condurr conferm confin \
conigl consegn consigl consum contant contar contatt content continu contrar convegn copert coprir coragg \
cordial corrent correr corrett corrid cortes cortil costant costar costos costum cravatt creder credit crescer \
crescit critic cucinar cultur cuocer curios davant davver decenn decider dedicar definir delitt deluder dentist \
denunc deporr deputat derivar desider destin dettagl dialog dicembr difett diplom dirett diritt discors disegn \
disgraz disporr distanz disturb divers divider diviet divorz domand domenic dormir dottor dovunqu dozzin dubitar \
durant ecceter eccett econom edific effett efficac egoist elegant element elevar elezion emozion ennesim entramb \
entrar entrat esaurit eserciz esigenz esister espert esporr estern estrem evident evitar fabbric faccend facilit \
facolt famigl fantas farmac fastid fattor fattur favorir felicit femmin fenomen fermar fermat ferrov figurar \
filosof finestr fissar fondar fontan formagg formar fornir fortun frances fratell fuggir fumator funzion garanz \
gemell general genitor gentil german gestion gestir gettar ghiacc giardin ginocc giocar gioiell giornal giornat \
giovan gioved giudic giudiz giunger giurar giustiz govern gratis gratuit gridar guadagn guardar guarir guidar \
identit ignorar immagin immens imparar impedir impegn impiant imporr impres incend incint incontr incroc indagin \
indicar indietr industr infanz infatt infern ingles ingress iniziar inoltr insalat inserir insiem insomm intern \
intorn inutil invern inviar invitar invitat istant istitut italian laggiu lampad lanciar lasciar lattin laureat \
lavagn lavorar legger letter lettor lettur lezion liberar libert librer licenz limitar liquid litigar livell \
lontan lottar luminos macchin maestr maggior maglion malatt malgrad maltemp mancanz mancar mandar mangiar manier \
marron marted mascher maschil massim mattin medicin mensil mentir mercat meritar messagg mestier metter miglior \
milion militar ministr miracol mission mister misurar modell modern moment mondial montagn montar mostrar muover \
nascer nascit nascost natural nazion negativ nemmen neppur nervos nessun nolegg nominar normal nostalg notevol \
novant novembr nuclear numeros nuotar occhial occhiat occupar occupat offert offrir oggett ombrell opinion \
oppost ordinar orgogl origin orolog orribil ospedal ospitar ostacol ottant ottener ottobr padron paesagg palazz \
palestr pallon panchin panoram paragon parecc parent parlar partenz partir partit passagg passar passat passion \
patent pazient pazienz peccat peggior pender pensar pensier pension pentol percors perder perdit perdon perfett \
perfin pericol perifer period permess persin person pesant pessim piacer pianet pianger pianur piccol piegar \
piover piscin pittor pittur politic poltron popolar portar portier postal postegg postin potent potenz povert \
pranzar pratic precis pregar premer prender present presenz prestar prestit previst prezios prigion princip \
privat problem process prodott produrr profond profum progett promess proporr propost prossim provar provinc \
prudent pubblic pulsant punger puntar puntual quadern qualcos qualcun qualit quantit quarant questur quindic \
raccolt raccont ragazz ragion rapport reagir reazion recent recitar regalar regger region regist regolar relativ \
render repart respir restar ricerc ricett ricever ricevut ricord ridicol ridurr riempir riferir rifiut riform \
rimaner riparar ripeter riposar riserv risparm rispett rispost risvegl ritard ritener ritirar ritorn riunion \
riuscir riveder rivelar rivist romanz romper rotond rovinar salott saltar salutar salvar sbrigar scadenz scaffal \
scappar scatol scender scherz schien sciarp scienz sciocc scioper scopert scoprir scorrer scrivan scriver \
scultur scusar second segnal segnar segret seguent seguir semafor sembrar semplic sentir separar servir serviz \
sessant settant settor sfidar sfortun sguard signor silenz sincer singol sinistr sistem smetter social societ \
soffiar soffitt soffrir soggett sognar soldat soltant sorell sorger sorpres sorris sostanz sottil spagnol sparar \
sparir spazzol special spedir spegner spender speranz sperar spettar spiacer spiagg spiegar spinger spirit \
sportiv sposar sposat spostar sprecar squadr staccar stagion stampar stanott staser statal stazion stipend \
stival stomac storic strett student studiar studios stupend stupid success suonar superar supporr svendit \
svilupp svolger tagliar talent tappet tardar tecnic tedesc telefon tempest tendenz tender tentar termin terren \
tesser toccar toglier tornar tovagl tradir tradurr traffic tramont trattar tredic tremar tremend trovar turism \
turist tuttav ubriac uccell uccider univers urgent vacanz valutar vantagg variar variet vegetal veicol velocit \
vender vendit venerd ventin verdur vergogn versar version vestir vestit vetrin vicend vietar vietat villagg \
vincer violent violenz vision visitar vittim vittor volont zuccher" }

words! { PORTUGUESE, "\
aberto abraco acabar aceitar acender acesso acordar acordo actual acucar adiante adulto afastar afirmar agencia \
agenda agosto ajudar alegria alemao alguem alguma almocar almoco altura alugar aluguel amanha amarelo ameaca \
amizade amostra analis animal antigo anuncio apagar apertar apesar aplicar apoiar aquecer aquela aquele aquilo \
armario arquivo arrumar artigo artista aspecto assinar assunto atacar ataque atencao atender aterrar atingir \
atitude atleta atraso atrave aumento avancar avenida avisar bagagem bairro baixar balcao barato barulho batalha \
bateria bebida beleza bilhete bocado bonito branco brasil brincar buscar cabeca cabelo cadeia cadeira caderno \
calcada calculo camara camera camiao caminho camisa campeao cancao caneta cansado cantar capital cartao casaco \
casado castelo causar celular centena central centro cerebro certeza chamada chamar chapeu chegada chegar \
cheirar cheiro chorar chover cidadao cidade ciencia cinema cliente coberto cobrar cobrir colecao colega colegio \
colher colina colocar comecar comeco comida compra comprar confiar consumo contar contato conter contra convite \
coracao coragem correio correr correto corrida cortar cortina costume cozinha credito crenca crescer criacao \
crianca cristao critica critico cruzar cuidado cuidar culpado cultura cumprir curioso custar dancar daquele \
debaixo debate decidir decimo decisao dedicar defeito defesa definir deitar deixar demanda demorar dentro \
desafio descer desejar desejo desenho deserto despesa destino detalhe devagar devido dezena diante diario \
dificil digital diploma direcao directo direito direto diretor dirigir diverso divida dividir doenca doente \
dominar domingo dormir doutor durante duvida duvidar duzento edicao efeito eficaz egoista eleger eleicao elevar \
embora emocao emprego empresa encher energia enganar engano enorme ensinar ensino entanto entrada entrar entrega \
enviar equipa equipe errado escada escapar escola escolar escolha escuro escutar esforco espaco espanha especie \
espelho esperar esperto esposa esquina estacao estadio estado estilo estrada estrela estudar estudo eterno \
europa europeu evento evitar excecao excesso exceto exemplo exercer exigir existir externo extremo fabrica \
faltar familia famoso fatura fazenda fechado fechar feriado ferida ficcao figura fisico formar fortuna franca \
france frango frente fresco funcao fundar futebol futuro ganhar garagem garota garoto garrafa gastar gelado \
genero geracao gerente ginasio gostar governo grande gravata gravida gritar guarda guardar guerra habito honesto \
horario hospede humano idioma ignorar igreja imagem imenso impedir imperio imposto incapaz incluir indicar \
infeliz inicial iniciar inicio inimigo injusto inteiro interno inutil inveja inverno isolado italia janeiro \
janela jantar japone jardim jogador jornada jornal julgar juntar justica ladrao lampada lancar laranja legenda \
leitor leitura lembrar lencol licenca ligacao ligeiro limitar limite limpar limpeza lingua liquido lotaria \
macaco madeira maduro maioria maldade maluco mandar maneira manter maquina marcar marcha margem marido materia \
maximo medico medida meiodia melhor membro memoria menina menino mensal mental mentir mentira mercado merecer \
metade metodo milhao militar minimo minuto mistura mobilia mochila modelo moderno molhado momento montar morada \
morrer mostrar motivo mudanca mulher mundial musica musico nascer natural negocio nenhum nervoso ninguem normal \
noticia novela numero objeto obrigar ocasiao oceano ocorrer ocupado ocupar oferta oficial oficina opiniao \
ordenar orelha orgulho origem outono outubro ouvido ovelha pacote padaria padrao pagina palacio palavra panela \
parabem parado parecer parede parente parque partida partido partir passado passar passaro passear passeio \
patrao pedaco pedido pensao pensar pequeno perder perdido perdoar perigo periodo pesado pescoco pessimo pessoa \
pessoal pintar pintor pintura piscina planear planeta planta plateia pobreza poesia policia popular porque \
posicao possuir postal poupar pratica pratico prazer preciso predio premio prender pressa pressao prestar prever \
prisao privado procura produto proibir projeto pronto propor proprio provar proximo publico quadro quando quanto \
quarta quarto quatro queijo queimar queixa querer querido questao quieto quimica quinta rapido reacao reagir \
receber receita recente recibo recurso recusar reducao reduzir referir reforma regiao regime regular relacao \
relogio remedio remover reparar repetir reserva resumo retirar retrato reuniao reunir revelar revista riqueza \
rodear romance romper roubar sabado salario salvar sangue saudade seccao sector seculo segredo seguir segunda \
segundo segurar seguro selecao semana semanal semente senhor senhora sentar sentido sentir separar servico \
servir sessao severo simple sincero sistema sobrar social sofrer solido solucao sombra somente sonhar sorrir \
sorriso sozinho sucesso sugerir surgir tabaco tabela talento talvez tamanho tambem tapete tardar tarefa teatro \
tecnica tecnico templo tentar teoria terreno tesouro tigela timido titulo toalha todavia torcer tornar trafego \
tratar treinar treino tremer trinta triste trocar turismo turista ultimo unidade urgente usuario vacaria valente \
valido varanda variar vegetal veiculo vencer vender verdade versao vestido vestir viagem viajar vigiar virtude \
visita visitar visivel vitima vitoria vizinha vizinho voltar volume vontade zangado" }

words! { DUTCH, "\
aanbied aangef aanhoud aankom aankop aanmeld aannem aanpass aanrad aanrak aantal aanton aantrek aanval aanvrag \
aardig achter advocat afgelop afsprak afsprek afstand afwacht afwezig afwijs akkoord allemal althan altijd \
apothek apparat arbeid artikel avondet bakker balkon bedank bedenk bediend bedoel bedrag bedrijf begraf begrijp \
begrip behalf behoeft behoud bekend bekijk beklag belang beleefd beleid beloft benoem benzin bepaald beperk \
beperkt bereid bereik bericht beroemd beroep besliss besluit besprek bestan bestand bestel bestur betrok bewijs \
bewoner bewust bezoek bezorg bezorgd bezwar bijdrag bliksem bovendi broeder brommer burger buurman cadeau \
central centrum cijfer collega concert contact contant control cultur daarbij daardor daarna daarom daarvor \
dankbar deelnem dertig detail deurbel dichter dienst dierbar dinsdag directi dochter dokter donker doorgan \
duizend echter economi eenzam eerder eergist eerlijk eeuwig effect eigenar eindig energi ernstig fabriek factur \
famili folder functi gangbar garanti gebeur gebied geboort gebouw gebrek gebruik gedacht gedeelt gedrag geduld \
geheim geheug geldig geluid gemeent geniet genoeg gepast gerecht gering geslot gesprek getuig gevoel gevolg \
geweld gewend gewicht gewond gewoont gezicht gezond grappig gratis groent handel handig handtas helemal herfst \
herhal herstel heuvel hiervor hoevel hoewel horlog huurder ijskast indruk ingang inhoud invloed inwoner jammer \
januari kampio kantor kapper kapsel kastel kelder kennis klacht kleding klimat koffer komend koning koppel \
kritiek laatst langzam lastig leegmak leider leiding lekker lelijk lening lesgef licham liever limonad locati \
losmak lucifer maandag machin makelar manier medisch meegan meekom meemak meenem meerder meestal meester meeval \
melding menigt mening meubel middag middel milieu minder misdad misluk misschi modern moeder moedig moment \
monster museum muziek naarto nadenk neerleg neerzet nerveus niemand nieuws normal nummer nuttig ochtend oktober \
olifant omgang omruil ondank ongeluk ongever ongewon onlang onnodig ontbijt ontbrek ontdek onthoud ontmoet \
ontslag ontspan ontstan ontvang ontwerp onzeker oorlog oorzak opbouw openbar opening ophoud oploss opmerk \
opnieuw opricht opruim opslan opstan opstur optred opvolg opzoek organis overal overdag overgef overig overkom \
overlef overleg overweg pagina pakket papier partij partner patient pensio period perron person plafond plezier \
poging politi positi postbod present prettig princip printer prober problem procent product project publiek \
reacti realis recent recept rechter reinig relati religi reserf rijkdom risico rondom rooster rustig salaris \
schaduw scheid schenk scherm scherp schiet schijn schrijf schrik serieus situati slager slecht sleutel sneeuw \
social soldat sommig special speler spiegel spring station stevig sticker storing strijd strikt student suiker \
system tandart tekort telefon tenslot tenzij terecht terugk terwijl tevred theater toegang toegef toenam toenem \
toepass toerist toestan toestel toevoeg toilet totdat traditi tuinman twijfel twintig uitgaf uitgan uitgang \
uitgef uithoud uitkijk uitleg uitmak uitrust uitslag uitstap uitstel uitvind uitzoek vakanti vandag vandan \
vanmorg vanuit vanweg veilig verand verbas verbet verbied verbind verbod verdel vereis verget vergiss vergrot \
verhal verhog verhuis verker verklar verkop verkoud verlang verlat verled verlor vermeld vermijd vermog verplat \
verrass verslag verstan verstop verstur vertal vertel vertrek vervang vervel vervoer vervolg verwijd verzek \
verzend verzoek verzorg vinger vlakbij vlucht voetbal volgend volgord volkom volwass vooral voordat voordel \
voorkom voornam voorrad vooruit voorzi vreemd vriend vrijdag vrijwel vroeger vrolijk waardor waarom waarvan \
wakker wandel wanner weekend weggan weggooi weinig welkom wereld werking werklos wijzig winkel winnar winter \
wissel woning zakdoek zondag zonder zwanger zwembad" }

words! { SWEDISH, "\
absolut accept adress alldel allihop alltid allting andamal andring anpass ansikt anslut ansprak anting antlig \
anvand apotek artikel artist aterig aterst atgard augusti avbryt aventyr avgift avsand avsikt avslut avstand \
balkong barndom batteri befinn begrav begrepp behall behandl behorig bekant beklag bekraft bekvam belopp beratt \
beredd beromd besked beskriv beslut bestall bestamd bestamm betrakt betydel bidrag biljett billig bokning \
bokstav bortom bostad brattom bredvid brevlad brollop byggnad dareft daremot decemb deltag detalj detsamm direkt \
diskut dubbel duktig effekt efterat ekonomi element endast energi engelsk england enligt enskild erbjud ersatt \
exempel expedit fabrik faktur familj fangel fardig farlig fastigh fattig femtio flygpl foljand forald foraldr \
forandr forbjud fordel foredr foresl foretag forlat formul fornamn forrest forsakr forskol forslag forsok forvag \
forvant fotboll framat framsid framst framtid fransk fredag frukost fyrtio galland gammal gangvag garanti \
garning genast genomf godkann gransk gratis gratul gronsak halvvag handduk handel handsk hansyn harlig hastigh \
helgdag heltid hemlig hemligh hemsid histori hittad hittill hogskol hogtid horand hotell ibland identit igenom \
imorgon inbjud individ ingenj ingenst inkomst innanf inratt inspekt install intrad intress invest istall jamlikh \
januari kalend kamrat kanslig kapitel karakt karlek katalog kolleg kommand komment kommun konsert konstig konstn \
kontakt kontant korrekt kostnad kostym kraftig kritik kritisk kultur kunskap kvalit kvantit kvitto kylskap \
lagenh ledning leksak lektion levand liksom lordag losning lycklig mannisk marklig maskin mataff matsal meddel \
medicin medlem mening middag miljon minist misstag modern mojlig mojligh morgon motion motsat motsatt motverk \
museum myndigh nagonst nedanf niondel nittio nordlig normal novemb nyckel nyttig objekt observ offert omedelb \
omojlig onodig onsdag oppning ordlist ordning organis orkest orolig ostlig ovanlig overtyg ovning paminn paraply \
passag patient paverk pension period person politik positiv precis present princip privat problem procent \
process produc produkt profess program projekt public publik radgiv rakning rapport rattigh rattvis recept \
region registr reklam renlig resand reserv resvask rikedom riksdag riktig rubrik rymlig sakerh sakert samarb \
samband samhall samling samtal samtlig sanning sekund semest senast septemb servic servit sjalvkl sjukdom \
sjukhus sjuttio skadad skjort skotsel skvall skyldig slutlig slutsat smutsig snabbt social soldat somlig sondag \
sovrum spansk spegel spring stadig standig station statlig stolth storlek strang student svarigh svensk sverig \
synlig system tacksam talamod tandlak tavling teknik teknisk telefon termin tidning tillagg tillat tillbak \
tisdag tjanst toalett torsdag trafik traning trettio trevlig trotto tydlig tyvarr underb undvik ungdom uppfatt \
uppfyll uppgift upplag upplev upprep upptack upptag upptrad uppvaxt ursakt utflykt utform utgang utgift utland \
utmarkt utnyttj utomhus utrymm utseend utsikt uttryck utveckl valdig valdigt valkomm vanlig vanskap vantrum \
varandr vardag vardelo varifr varning varuhus verklig verktyg viktig visning vistel vykort" }
