using Orleans;
using Orleans.Runtime;

namespace Corfu.Orleans.Clustering;

/// <summary>A silo's vote that another one has failed.</summary>
[MessagePackObject]
internal readonly record struct SuspicionRow([property: Key(0)] string Silo, [property: Key(1)] long UtcTicks);

/// <summary>A silo's row in the table. Times are UTC ticks.</summary>
[MessagePackObject]
internal sealed record MemberRow
{
    [Key(0)]
    public required string Silo { get; init; }

    [Key(1)]
    public int Status { get; init; }

    /// <summary>Null and empty stay apart.</summary>
    [Key(2)]
    public ImmutableArray<SuspicionRow>? Suspicions { get; init; }

    [Key(3)]
    public int ProxyPort { get; init; }

    [Key(4)]
    public string? HostName { get; init; }

    [Key(5)]
    public string? SiloName { get; init; }

    [Key(6)]
    public string? RoleName { get; init; }

    [Key(7)]
    public int UpdateZone { get; init; }

    [Key(8)]
    public int FaultZone { get; init; }

    [Key(9)]
    public long StartTicks { get; init; }

    [Key(10)]
    public long AliveTicks { get; init; }

    public static MemberRow Of(MembershipEntry entry) => new()
    {
        Silo = entry.SiloAddress.ToParsableString(),
        Status = (int)entry.Status,
        Suspicions = entry.SuspectTimes is { } votes
            ? [.. votes.Select(vote => new SuspicionRow(vote.Item1.ToParsableString(), vote.Item2.Ticks))]
            : null,
        ProxyPort = entry.ProxyPort,
        HostName = entry.HostName,
        SiloName = entry.SiloName,
        RoleName = entry.RoleName,
        UpdateZone = entry.UpdateZone,
        FaultZone = entry.FaultZone,
        StartTicks = entry.StartTime.Ticks,
        AliveTicks = entry.IAmAliveTime.Ticks,
    };

    /// <summary>A new one: Orleans changes entries in place.</summary>
    public MembershipEntry ToEntry() => new()
    {
        SiloAddress = SiloAddress.FromParsableString(Silo),
        Status = (SiloStatus)Status,
        SuspectTimes = Suspicions?
            .Select(vote => Tuple.Create(SiloAddress.FromParsableString(vote.Silo), Utc(vote.UtcTicks)))
            .ToList(),
        ProxyPort = ProxyPort,
        HostName = HostName!,
        SiloName = SiloName!,
        RoleName = RoleName,
        UpdateZone = UpdateZone,
        FaultZone = FaultZone,
        StartTime = Utc(StartTicks),
        IAmAliveTime = Utc(AliveTicks),
    };

    private static DateTime Utc(long ticks) => new(ticks, DateTimeKind.Utc);
}
