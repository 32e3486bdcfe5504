using System.Globalization;

namespace Corfu.Detection;

/// <summary>The verdict on a node, from its samples.</summary>
/// <param name="Since">Duration of the health.</param>
/// <param name="Phi">Suspicion: minus the logarithm of the chance that an answer so late still comes.</param>
/// <param name="RoundTrip">Smoothed, in milliseconds.</param>
/// <param name="Note">Replaces the text of <see cref="Why"/>.</param>
public readonly record struct NodeVerdict(NodeHealth Health, TimeSpan Since, double Phi, double RoundTrip = 0,
    string? Note = null)
{
    /// <summary>For people. Made on demand: most verdicts are never shown.</summary>
    public string Why => Note ?? Health switch
    {
        NodeHealth.Dead => $"refuses connections for {Seconds(Since)}",
        NodeHealth.Replaced => "another identity answers in its place",
        NodeHealth.Leaving => $"stopped in good order {Seconds(Since)} ago",
        NodeHealth.Failed => $"says that its disk has failed, for {Seconds(Since)}",
        NodeHealth.Silent => $"no answer for {Seconds(Since)} (phi {Math.Min(Phi, 99):0})",
        NodeHealth.Overloaded => $"has no place for connections, for {Seconds(Since)}",
        NodeHealth.Full => $"says that its disk is full, for {Seconds(Since)}",
        NodeHealth.Slow =>
            string.Create(CultureInfo.InvariantCulture, $"takes {RoundTrip:0} ms to answer, for {Seconds(Since)}"),
        NodeHealth.Alive => string.Create(CultureInfo.InvariantCulture, $"answers in {RoundTrip:0.0} ms"),
        _ => "",
    };

    /// <summary>Together with a second observer, this is enough to go on without the node.</summary>
    public bool IsGone => Health is NodeHealth.Dead or NodeHealth.Replaced or NodeHealth.Silent or NodeHealth.Failed;

    /// <summary>The verdict rests on what the node or its machine says, not on silence.</summary>
    public bool IsCertain => Health is NodeHealth.Dead or NodeHealth.Replaced or NodeHealth.Failed;

    internal static string Seconds(TimeSpan time) =>
        time.TotalSeconds.ToString("0.0#", CultureInfo.InvariantCulture) + " s";
}
