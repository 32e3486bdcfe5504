using System.Globalization;

namespace Corfu.Agent;

/// <summary>What the samples of one node amount to.</summary>
/// <param name="Since">How long it has been so.</param>
/// <param name="Phi">Suspicion: minus the logarithm of the chance that an answer so late still comes.</param>
/// <param name="RoundTrip">Smoothed, in milliseconds.</param>
/// <param name="Note">Said instead of the figures.</param>
internal readonly record struct NodeVerdict(NodeHealth Health, TimeSpan Since, double Phi, double RoundTrip = 0,
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
        NodeHealth.Full => $"says that its disk is full, for {Seconds(Since)}",
        NodeHealth.Slow =>
            string.Create(CultureInfo.InvariantCulture, $"takes {RoundTrip:0} ms to answer, for {Seconds(Since)}"),
        NodeHealth.Alive => string.Create(CultureInfo.InvariantCulture, $"answers in {RoundTrip:0.0} ms"),
        _ => "",
    };

    /// <summary>Enough, together with a second observer, to go on without the node.</summary>
    public bool IsGone => Health is NodeHealth.Dead or NodeHealth.Replaced or NodeHealth.Silent or NodeHealth.Failed;

    /// <summary>What the node's machine or the node itself says, not what its silence suggests.</summary>
    public bool IsCertain => Health is NodeHealth.Dead or NodeHealth.Replaced or NodeHealth.Failed;

    internal static string Seconds(TimeSpan time) =>
        time.TotalSeconds.ToString("0.0#", CultureInfo.InvariantCulture) + " s";
}
