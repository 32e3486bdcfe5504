namespace Corfu.OrleansLoad;

/// <summary>How much is measured.</summary>
/// <param name="Seconds">Seconds of one measurement.</param>
/// <param name="WarmUp">Seconds of each operation before the first round, not counted.</param>
/// <param name="Activations">Grains activated in one measurement.</param>
internal sealed record LoadPlan(int Rounds, double Seconds, double WarmUp, int Activations)
{
    public const int StateBytes = 128;

    /// <summary>Callers at once of grain storage, and of the echo beside it.</summary>
    public static readonly IReadOnlyList<int> InFlight = [1, 64];

    public static LoadPlan Full { get; } = new(5, 3, 2, 1_000);

    public static LoadPlan Quick { get; } = new(2, 0.4, 0.2, 50);
}
