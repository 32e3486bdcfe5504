using System.Net;
using Orleans;
using Orleans.Runtime;

namespace Corfu.Orleans.Tests.Support;

/// <summary>Rows of silos as Orleans makes them.</summary>
internal static class Silos
{
    private static int s_generation;

    public static SiloAddress NewAddress() => SiloAddress.New(
        new IPEndPoint(IPAddress.Loopback, 11111), Interlocked.Increment(ref s_generation));

    public static MembershipEntry NewEntry(SiloStatus status = SiloStatus.Joining, int proxyPort = 30000)
    {
        var now = new DateTime(2026, 11, 24, 12, 0, 0, DateTimeKind.Utc);
        return new MembershipEntry
        {
            SiloAddress = NewAddress(),
            HostName = "host",
            SiloName = "silo",
            Status = status,
            ProxyPort = proxyPort,
            StartTime = now,
            IAmAliveTime = now,
        };
    }
}
