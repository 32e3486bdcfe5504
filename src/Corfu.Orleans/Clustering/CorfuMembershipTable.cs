using System.Globalization;
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
        RunAsync("Opening the membership table", _ => new ValueTask<bool>(true), cancellationToken);

    public Task DeleteMembershipTableEntries(string clusterId) =>
        DeleteMembershipTableEntriesAsync(clusterId, CancellationToken.None);

    public async Task DeleteMembershipTableEntriesAsync(string clusterId, CancellationToken cancellationToken)
    {
        await GrainScheduler.Leave();
        try
        {
            var table = clusterId == names.ClusterId
                ? await _table.GetAsync(cancellationToken)
                : await runtime.OpenAsync<MembershipObject>(names.Membership(clusterId), cancellationToken);
            await table.ClearAsync(cancellationToken);
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
        var removed = await RunAsync("Removing defunct silos",
            table => table.RemoveDefunctAsync(beforeDate.UtcTicks, cancellationToken), cancellationToken);
        if (removed > 0) LogRemoved(removed, beforeDate);
    }

    public Task<MembershipTableData> ReadRow(SiloAddress key) => ReadRowAsync(key, CancellationToken.None);

    public async Task<MembershipTableData> ReadRowAsync(SiloAddress key, CancellationToken cancellationToken)
    {
        var silo = key.ToParsableString();
        return ToData(await RunAsync($"Reading the membership of {key}",
            table => table.OneAsync(silo, cancellationToken), cancellationToken));
    }

    public Task<MembershipTableData> ReadAll() => ReadAllAsync(CancellationToken.None);

    public async Task<MembershipTableData> ReadAllAsync(CancellationToken cancellationToken) => ToData(await RunAsync(
        "Reading the membership table", table => table.AllAsync(cancellationToken), cancellationToken));

    public Task<bool> InsertRow(MembershipEntry entry, TableVersion tableVersion) =>
        InsertRowAsync(entry, tableVersion, CancellationToken.None);

    public async Task<bool> InsertRowAsync(
        MembershipEntry entry, TableVersion tableVersion, CancellationToken cancellationToken)
    {
        if (!TryParse(tableVersion.VersionEtag, out var seen)) return false;
        var row = MemberRow.Of(entry);
        return await RunAsync($"Inserting silo {entry.SiloAddress}",
            table => table.InsertAsync(row, tableVersion.Version, seen, cancellationToken), cancellationToken);
    }

    public Task<bool> UpdateRow(MembershipEntry entry, string etag, TableVersion tableVersion) =>
        UpdateRowAsync(entry, etag, tableVersion, CancellationToken.None);

    public async Task<bool> UpdateRowAsync(
        MembershipEntry entry, string etag, TableVersion tableVersion, CancellationToken cancellationToken)
    {
        if (!TryParse(tableVersion.VersionEtag, out var seen) || !TryParse(etag, out var seenRow)) return false;
        var row = MemberRow.Of(entry);
        return await RunAsync($"Updating silo {entry.SiloAddress}",
            table => table.UpdateAsync(row, seenRow, tableVersion.Version, seen, cancellationToken),
            cancellationToken);
    }

    public Task UpdateIAmAlive(MembershipEntry entry) => UpdateIAmAliveAsync(entry, CancellationToken.None);

    public Task UpdateIAmAliveAsync(MembershipEntry entry, CancellationToken cancellationToken)
    {
        var silo = entry.SiloAddress.ToParsableString();
        return RunAsync($"Noting that silo {entry.SiloAddress} is alive", async table =>
        {
            await table.TouchAsync(silo, entry.IAmAliveTime.Ticks, cancellationToken);
            return true;
        }, cancellationToken);
    }

    private async Task<TResult> RunAsync<TResult>(
        string operation, Func<MembershipObject, ValueTask<TResult>> call, CancellationToken cancellationToken)
    {
        await GrainScheduler.Leave();
        try
        {
            return await call(await _table.GetAsync(cancellationToken));
        }
        catch (Exception e) when (CorfuOrleansException.Covers(e))
        {
            throw CorfuOrleansException.Of(operation, e);
        }
    }

    private static MembershipTableData ToData(MembershipView view) => new(
        [.. view.Members.Select(member => Tuple.Create(member.Row.ToEntry(), ToText(member.Etag)))],
        new TableVersion(view.Version, ToText(view.Etag)));

    private static string ToText(long etag) => etag.ToString(CultureInfo.InvariantCulture);

    // An etag that is none of ours is of no version of this table.
    private static bool TryParse(string? etag, out long value) =>
        long.TryParse(etag, NumberStyles.None, CultureInfo.InvariantCulture, out value);

    [LoggerMessage(LogLevel.Information, "Removed {Count} silos from the membership table, unheard of since {Before}")]
    private partial void LogRemoved(int count, DateTimeOffset before);
}
