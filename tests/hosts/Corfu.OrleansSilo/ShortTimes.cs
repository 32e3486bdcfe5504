using Orleans.Configuration;
using Orleans.Hosting;

namespace Corfu.OrleansSilo;

/// <summary>Times of tests: a silo that is killed is declared dead within a second or two.</summary>
public static class ShortTimes
{
    public static ISiloBuilder UseShortTimes(this ISiloBuilder silo) => silo
        .Configure<ClusterMembershipOptions>(static options =>
        {
            options.ProbeTimeout = TimeSpan.FromMilliseconds(700);
            options.NumMissedProbesLimit = 2;
            options.NumVotesForDeathDeclaration = 2;
            options.TableRefreshTimeout = TimeSpan.FromSeconds(1);
            options.IAmAliveTablePublishTimeout = TimeSpan.FromSeconds(1);
        })
        .Configure<ReminderOptions>(static options =>
        {
            options.MinimumReminderPeriod = TimeSpan.FromMilliseconds(100);
            options.RefreshReminderListPeriod = TimeSpan.FromSeconds(2);
        })
        .Configure<SiloMessagingOptions>(static options => options.ResponseTimeout = TimeSpan.FromSeconds(10));
}
