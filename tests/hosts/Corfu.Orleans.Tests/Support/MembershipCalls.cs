using Orleans;
using Orleans.Runtime;

namespace Corfu.Orleans.Tests.Support;

/// <summary>The calls of a membership table as tests write them.</summary>
internal static class MembershipCalls
{
    public static Task InitializeAsync(this IMembershipTable table) =>
        table.InitializeMembershipTableAsync(true, CancellationToken.None);

    public static Task<MembershipTableData> AllAsync(this IMembershipTable table) =>
        table.ReadAllAsync(CancellationToken.None);

    public static Task<MembershipTableData> RowAsync(this IMembershipTable table, SiloAddress silo) =>
        table.ReadRowAsync(silo, CancellationToken.None);

    public static Task<bool> InsertAsync(this IMembershipTable table, MembershipEntry entry, TableVersion version) =>
        table.InsertRowAsync(entry, version, CancellationToken.None);

    public static Task<bool> UpdateAsync(
        this IMembershipTable table, MembershipEntry entry, string etag, TableVersion version) =>
        table.UpdateRowAsync(entry, etag, version, CancellationToken.None);

    public static Task TouchAsync(this IMembershipTable table, MembershipEntry entry) =>
        table.UpdateIAmAliveAsync(entry, CancellationToken.None);

    public static Task CleanUpAsync(this IMembershipTable table, DateTimeOffset before) =>
        table.CleanupDefunctSiloEntriesAsync(before, CancellationToken.None);

    public static Task DeleteAsync(this IMembershipTable table, string clusterId) =>
        table.DeleteMembershipTableEntriesAsync(clusterId, CancellationToken.None);
}
