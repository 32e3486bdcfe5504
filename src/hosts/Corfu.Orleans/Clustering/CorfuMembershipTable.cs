using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Runtime;

namespace Corfu.Orleans.Clustering;

/// <summary>Orleans' membership of one cluster, as an object of the log. Conditional writes are one append
/// each.</summary>
internal sealed partial class CorfuMembershipTable(
    CorfuOrleansRuntime runtime, ObjectNames names, ILogger<CorfuMembershipTable> logger)
    : IMembershipTable
{
    private readonly SharedObject<MembershipObject> _table = new(runtime, names.Membership(names.ClusterId));

    public Task InitializeMembershipTable(bool tryInitTableVersion) =>
        InitializeMembershipTableAsync(tryInitTableVersion, CancellationToken.None);

    public Task InitializeMembershipTableAsync(bool tryInitTableVersion, CancellationToken cancellationToken) =>
        // Opening creates the object; a new one has the version that Orleans expects of an empty table.
        _table.RunAsync("Opening the membership table", _ => new ValueTask<bool>(true), cancellationToken);

    public Task DeleteMembershipTableEntries(string clusterId) =>
        DeleteMembershipTableEntriesAsync(clusterId, CancellationToken.None);

    /// <summary>Deletes the cluster's objects, its grain directories too: without silos they stand for nothing, and
    /// every object has to be kept up by those that go on.</summary>
    public async Task DeleteMembershipTableEntriesAsync(string clusterId, CancellationToken cancellationToken)
    {
        try
        {
            await runtime.DeleteAsync(names.Membership(clusterId), cancellationToken);
            await runtime.DeleteAllAsync(names.Directories(clusterId), cancellationToken);
        }
        catch (Exception e) when (CorfuOrleansException.Covers(e))
        {
            throw CorfuOrleansException.Of($"Deleting the membership of cluster '{clusterId}'", e);
        }
    }

    public Task CleanupDefunctSiloEntries(DateTimeOffset beforeDate) =>
        CleanupDefunctSiloEntriesAsync(beforeDate, CancellationToken.None);

    public async Task CleanupDefunctSiloEntriesAsync(DateTimeOffset beforeDate, CancellationToken cancellationToken)
    {
        var removed = await _table.RunAsync("Removing defunct silos",
            table => table.RemoveDefunctAsync(beforeDate.UtcTicks, cancellationToken), cancellationToken);
        if (removed > 0) LogRemoved(removed, beforeDate);
    }

    public Task<MembershipTableData> ReadRow(SiloAddress key) => ReadRowAsync(key, CancellationToken.None);

    public async Task<MembershipTableData> ReadRowAsync(SiloAddress key, CancellationToken cancellationToken)
    {
        var silo = key.ToParsableString();
        return ToData(await _table.RunAsync($"Reading the membership of {key}",
            table => table.OneAsync(silo, cancellationToken), cancellationToken));
    }

    public Task<MembershipTableData> ReadAll() => ReadAllAsync(CancellationToken.None);

    public async Task<MembershipTableData> ReadAllAsync(CancellationToken cancellationToken) => ToData(
        await _table.RunAsync(
            "Reading the membership table", table => table.AllAsync(cancellationToken), cancellationToken));

    public Task<bool> InsertRow(MembershipEntry entry, TableVersion tableVersion) =>
        InsertRowAsync(entry, tableVersion, CancellationToken.None);

    public async Task<bool> InsertRowAsync(
        MembershipEntry entry, TableVersion tableVersion, CancellationToken cancellationToken)
    {
        if (!TryParse(tableVersion.VersionEtag, out var seen)) return false;
        var (row, next) = (MemberRow.Of(entry), Guid.NewGuid());
        return await _table.RunAsync($"Inserting silo {entry.SiloAddress}",
            table => table.InsertAsync(row, tableVersion.Version, seen, next, cancellationToken), cancellationToken);
    }

    public Task<bool> UpdateRow(MembershipEntry entry, string etag, TableVersion tableVersion) =>
        UpdateRowAsync(entry, etag, tableVersion, CancellationToken.None);

    public async Task<bool> UpdateRowAsync(
        MembershipEntry entry, string etag, TableVersion tableVersion, CancellationToken cancellationToken)
    {
        if (!TryParse(tableVersion.VersionEtag, out var seen) || !TryParse(etag, out var seenRow)) return false;
        var (row, next) = (MemberRow.Of(entry), Guid.NewGuid());
        return await _table.RunAsync($"Updating silo {entry.SiloAddress}",
            table => table.UpdateAsync(row, seenRow, tableVersion.Version, seen, next, cancellationToken),
            cancellationToken);
    }

    public Task UpdateIAmAlive(MembershipEntry entry) => UpdateIAmAliveAsync(entry, CancellationToken.None);

    public Task UpdateIAmAliveAsync(MembershipEntry entry, CancellationToken cancellationToken)
    {
        var silo = entry.SiloAddress.ToParsableString();
        return _table.RunAsync($"Noting that silo {entry.SiloAddress} is alive", async table =>
        {
            await table.TouchAsync(silo, entry.IAmAliveTime.Ticks, cancellationToken);
            return true;
        }, cancellationToken);
    }

    private static MembershipTableData ToData(MembershipView view) => new(
        [.. view.Members.Select(member => Tuple.Create(member.Row.ToEntry(), ToText(member.Etag)))],
        new TableVersion(view.Version, ToText(view.Etag)));

    private static string ToText(Guid etag) => etag.ToString("N");

    // An etag that is none of ours is of no version of this table.
    private static bool TryParse(string? etag, out Guid value) => Guid.TryParseExact(etag, "N", out value);

    [LoggerMessage(LogLevel.Information, "Removed {Count} silos from the membership table, unheard of since {Before}")]
    private partial void LogRemoved(int count, DateTimeOffset before);
}
