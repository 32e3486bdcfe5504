namespace Corfu.Checkers;

/// <summary>Accusations (`accusation`): no correct member is caught answering wrongly. A stall is no such
/// accusation.</summary>
public static class AccusationCheck
{
    /// <param name="isCorrect">Nothing was done to the member's machine but stops, restarts and cut lines.</param>
    public static Violation? Accused(string member, string region, bool isWrongAnswer, bool isCorrect) =>
        isWrongAnswer && isCorrect
            ? new Violation(CheckerNames.Accusation,
                $"{member} is accused of a wrong answer of {region}, and is correct")
            : null;
}
