namespace NamenodeSample.Run;

/// <summary>Size of a run.</summary>
internal sealed record RunPlan(int Operations, int Kills, int Stops, int Clients, int Seed, TimeSpan Lease)
{
    public const int Namenodes = 3;

    public int Faults => Kills + Stops;

    /// <summary>Operations that are answered before a fault.</summary>
    /// <param name="fault">From 0; the one behind the last is the end.</param>
    public int AnsweredBefore(int fault) => (int)((fault + 1L) * Operations / (Faults + 1));

    /// <summary>Whether a fault is a stop: they are spread over the run.</summary>
    public bool IsStop(int fault) => (fault + 1L) * Stops / Faults > (long)fault * Stops / Faults;
}
