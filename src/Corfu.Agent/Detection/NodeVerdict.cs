using System.Globalization;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>What the samples of one node amount to.</summary>
/// <param name="Since">How long it has been so.</param>
/// <param name="Phi">Suspicion: minus the logarithm of the chance that an answer as late as this one still comes.</param>
public readonly record struct NodeVerdict(NodeHealth Health, TimeSpan Since, double Phi, string Why)
{
    /// <summary>Enough, together with a second observer, to go on without the node.</summary>
    public bool IsGone => Health is NodeHealth.Dead or NodeHealth.Replaced or NodeHealth.Silent or NodeHealth.Failed;

    /// <summary>What the node's machine or the node itself says, not what its silence suggests.</summary>
    public bool IsCertain => Health is NodeHealth.Dead or NodeHealth.Replaced or NodeHealth.Failed;

    internal static string Seconds(TimeSpan time) => time.TotalSeconds.ToString("0.0#", CultureInfo.InvariantCulture) + " s";
}
