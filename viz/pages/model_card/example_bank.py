"""English sentences of many kinds, and a draw from them that nobody steers but a seed. Knows nothing of models.

All were written for this file and none was tried on a model first: what a draw shows is what people may expect.
"""

from random import Random
from typing import Final

DRAWN: Final = 20

EVERYDAY: Final = (
    "I left my umbrella on the bus again.",
    "The baker on our corner closes at noon on Saturdays.",
    "We had pancakes for dinner because the oven broke.",
    "My brother learned to swim when he was nine.",
    "You should water the tomatoes before it gets too hot.",
    "There is still some soup in the pot.",
    "Yesterday the lift was out of order for six hours.",
    "Our neighbours are painting their front door green.",
    "I would rather walk than wait for the next tram.",
    "The milk in the blue jug has gone sour.",
    "Her grandmother knits a new scarf every winter.",
    "After the storm we found a football in our garden.",
    "He stirs honey into his coffee on Sundays.",
    "Put the heavy boxes at the bottom of the shelf.",
    "The children fell asleep before the film was over.",
)
CAPTIONS: Final = (
    "Two girls in raincoats jump into a puddle.",
    "A man with a grey beard repairs a fishing net on the beach.",
    "Several cyclists wait at a red light.",
    "A brown dog shakes water from its fur.",
    "An old woman sells oranges from a wooden cart.",
    "Three workers in orange vests stand on a roof.",
    "A boy balances a spoon on his nose at the kitchen table.",
    "People with suitcases walk past a bookshop.",
    "A goalkeeper dives for the ball in heavy rain.",
    "A young couple is looking at a map in front of a fountain.",
    "A cat sleeps on top of a parked car.",
    "Four musicians play the violin in an underground station.",
    "A little girl holds a snail in her open hand.",
    "A climber in a blue helmet hangs from a rope above a valley.",
    "Men in white shirts are carrying a piano up the stairs.",
)
NEWS: Final = (
    "The city council voted on Tuesday to close the old bridge for two years.",
    "Prices for electricity rose by four percent in the first quarter.",
    "Police are looking for witnesses to an accident on the coastal road.",
    "The minister said that talks with the unions would continue next week.",
    "A fire destroyed the roof of a furniture factory near the harbour.",
    "Researchers have counted more than three hundred bird species in the park.",
    "The airline cancelled forty flights because of a strike by ground staff.",
    "Voters in the region will elect a new parliament in September.",
    "The company plans to build its largest warehouse outside the capital.",
    "Heavy snow has cut off several mountain villages since Friday.",
    "The court rejected the complaint of a former bank director.",
    "Farmers expect a poor harvest after the dry spring.",
    "The museum returned two statues that had been stolen in the war.",
    "Unemployment on the islands fell to its lowest level in eleven years.",
    "The team lost its third match in a row and dismissed the coach.",
)
QUESTIONS: Final = (
    "Where did you put the scissors?",
    "How long does the train to Lübeck take?",
    "Has anyone fed the rabbits today?",
    "Why are all the windows open?",
    "Could you lend me your ladder until Sunday?",
    "Which of these two jackets is cheaper?",
    "Do you know whose bicycle this is?",
    "What time does the pharmacy open?",
    "Have you ever cooked for forty people?",
    "Who told you that we were moving?",
    "Is there a bank near the market square?",
    "When was this church built?",
    "May I try on the other pair of shoes?",
    "How many eggs do we need for the cake?",
    "Why didn't she call you back?",
)
NEGATIONS: Final = (
    "I don't like loud restaurants.",
    "Nobody came to the door, although we rang three times.",
    "She has never been on a plane.",
    "The shop didn't have any fresh bread left.",
    "We cannot leave before the rain stops.",
    "There was nothing in the letterbox.",
    "He doesn't remember where he parked the van.",
    "You must not feed the ducks.",
    "Neither of the keys fits this lock.",
    "The meeting will not take place tomorrow.",
    "I haven't seen my glasses since breakfast.",
    "None of the guests noticed the mistake.",
    "They did not buy the house, although it was cheap.",
    "It isn't your fault that the plate broke.",
    "My parents no longer live in the countryside.",
)
PRONOUNS: Final = (
    "The lamp fell over, but it still works.",
    "I bought a new table because it was on sale.",
    "My aunt lost her key, and now she is looking for it.",
    "The spoon is dirty; please wash it.",
    "The doctor thanked the nurse because she had stayed all night.",
    "The bottle rolled off the counter, but it did not break.",
    "Anna gave Peter the newspaper after he had asked for it.",
    "The moon was so bright that it lit the whole garden.",
    "We wanted to eat the cake, but it was too dry.",
    "The boys brought their sister a coat because she was cold.",
    "The door would not open until he kicked it.",
    "When the train arrived, it was already full.",
    "The horse could not jump over the wall because it was too high.",
    "The knife is sharp, so do not let the child touch it.",
    "He showed his mother the painting, and she hung it in the hall.",
)
CHAT: Final = (
    "Hi, I ordered two pizzas an hour ago and they still haven't arrived.",
    "Sorry, the line was bad, can you say the street again?",
    "Great, see you on Thursday then!",
    "My order number is 4471.",
    "No problem, take your time.",
    "I think I typed in the wrong address.",
    "Is there anything else I can help you with?",
    "Thanks a lot, you saved my day!",
    "Just a moment, I will check that for you.",
    "Can we move the appointment to half past nine?",
    "I'd like to return these headphones.",
    "Happy birthday! How does it feel to be thirty?",
    "Ok, but please bring your own towel.",
    "The app keeps asking me for a password.",
    "What a pity, I was looking forward to it.",
)
TYPED: Final = (
    "i am running late, please start without me",
    "the printer on the second floor is out of paper again",
    "can you pick up the kids from school today",
    "we did not find a parking space near the theatre",
    "my phone battery is almost empty",
    "she is not coming because her son is ill",
    "a man is standing on a ladder and cleaning a window",
    "do you want tea or coffee",
    "the heating does not work in room twelve",
    "i have never heard of this band",
    "we are out of butter and the shop is closed",
    "there is a spider in the bathtub and it is huge",
    "two women are sitting on a bench and laughing",
    "what is the weather like in hamburg",
    "he forgot his wallet so i paid for him",
)
BANK: Final = (*EVERYDAY, *CAPTIONS, *NEWS, *QUESTIONS, *NEGATIONS, *PRONOUNS, *CHAT, *TYPED)


def draw(seed: int) -> list[str]:
    """Twenty sentences of the bank: the same for the same seed, everywhere."""
    return Random(seed).sample(BANK, DRAWN)
