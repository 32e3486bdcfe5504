using Orleans.Configuration;

namespace JobScheduler.Silos;

/// <summary>Times of silos and client. Orleans' defaults are for networks; all processes of a run are on one
/// machine, where a silent silo is soon a dead one.</summary>
internal static class SiloTimes
{
    /// <summary>Between two reports of a replica.</summary>
    public static readonly TimeSpan Report = TimeSpan.FromMilliseconds(100);

    /// <summary>A replica that no silo could activate for so long ends the run.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>From the start of a silo's process until it serves.</summary>
    public static readonly TimeSpan Start = TimeSpan.FromSeconds(60);

    /// <summary>Time that a silo that is told to stop may take.</summary>
    public static readonly TimeSpan Stop = TimeSpan.FromSeconds(5);

    /// <summary>A call whose silo died is not answered.</summary>
    public static readonly TimeSpan Response = TimeSpan.FromSeconds(5);

    public static readonly TimeSpan GatewayRefresh = TimeSpan.FromSeconds(1);

    public static void Apply(ClusterMembershipOptions options)
    {
        options.ProbeTimeout = TimeSpan.FromSeconds(1);
        options.NumMissedProbesLimit = 2;
        options.TableRefreshTimeout = TimeSpan.FromSeconds(2);
    }
}
