using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Runtime;
using Tango;

namespace Corfu.Orleans.Reminders;

/// <summary>The reminders of a service, as an object of the log.</summary>
internal sealed partial class CorfuReminderTable(
    CorfuOrleansRuntime runtime, ObjectNames names, ILogger<CorfuReminderTable> logger)
    : IReminderTable
{
    private readonly SharedObject<ReminderObject> _reminders = new(runtime, names.Reminders);

    public Task StartAsync(CancellationToken cancellationToken) =>
        _reminders.RunAsync("Opening the reminders", _ => new ValueTask<bool>(true), cancellationToken);

    public Task<ReminderTableData> ReadRows(GrainId grainId) => ReadRows(grainId, CancellationToken.None);

    public async Task<ReminderTableData> ReadRows(GrainId grainId, CancellationToken cancellationToken)
    {
        var grain = GrainKeys.Of(grainId);
        return ToData(await _reminders.RunAsync($"Reading the reminders of grain {grainId}",
            reminders => reminders.OfGrainAsync(grainId.GetUniformHashCode(), grain, cancellationToken),
            cancellationToken));
    }

    public Task<ReminderTableData> ReadRows(uint begin, uint end) => ReadRows(begin, end, CancellationToken.None);

    public async Task<ReminderTableData> ReadRows(uint begin, uint end, CancellationToken cancellationToken) =>
        ToData(await _reminders.RunAsync("Reading a range of reminders",
            reminders => reminders.InRangeAsync(begin, end, cancellationToken), cancellationToken));

    public Task<ReminderEntry?> ReadRow(GrainId grainId, string reminderName) =>
        ReadRow(grainId, reminderName, CancellationToken.None);

    public async Task<ReminderEntry?> ReadRow(
        GrainId grainId, string reminderName, CancellationToken cancellationToken)
    {
        var grain = GrainKeys.Of(grainId);
        var row = await _reminders.RunAsync($"Reading reminder '{reminderName}' of grain {grainId}",
            reminders => reminders.FindAsync(grainId.GetUniformHashCode(), grain, reminderName, cancellationToken),
            cancellationToken);
        return row is null ? null : ToEntry(row);
    }

    public Task<string?> UpsertRow(ReminderEntry entry) => UpsertRow(entry, CancellationToken.None);

    public async Task<string?> UpsertRow(ReminderEntry entry, CancellationToken cancellationToken)
    {
        var row = new ReminderRow(entry.GrainId.GetUniformHashCode(), GrainKeys.Of(entry.GrainId),
            entry.ReminderName, entry.StartAt.Ticks, entry.Period.Ticks, Guid.NewGuid());
        await _reminders.RunAsync($"Storing reminder '{entry.ReminderName}' of grain {entry.GrainId}",
            reminders => PutAsync(reminders, row, cancellationToken), cancellationToken);
        return row.Etag.ToString("N");
    }

    public Task<bool> RemoveRow(GrainId grainId, string reminderName, string eTag) =>
        RemoveRow(grainId, reminderName, eTag, CancellationToken.None);

    public async Task<bool> RemoveRow(
        GrainId grainId, string reminderName, string eTag, CancellationToken cancellationToken)
    {
        if (!Guid.TryParseExact(eTag, "N", out var etag)) return false;
        var grain = GrainKeys.Of(grainId);
        return await _reminders.RunAsync($"Removing reminder '{reminderName}' of grain {grainId}",
            reminders => reminders.RemoveAsync(
                grainId.GetUniformHashCode(), grain, reminderName, etag, cancellationToken),
            cancellationToken);
    }

    public Task TestOnlyClearTable() => TestOnlyClearTable(CancellationToken.None);

    public Task TestOnlyClearTable(CancellationToken cancellationToken) => _reminders.RunAsync("Clearing the reminders",
        async reminders =>
        {
            await reminders.ClearAsync(cancellationToken);
            return true;
        }, cancellationToken);

    /// <summary>Stores a row. In doubt, a row that still has the write's etag shows that the write took effect. No
    /// state of the table shows the contrary.</summary>
    private async ValueTask<bool> PutAsync(
        ReminderObject reminders, ReminderRow row, CancellationToken cancellationToken)
    {
        try
        {
            await reminders.PutAsync(row, cancellationToken);
        }
        catch (TangoInDoubtException e) when (!cancellationToken.IsCancellationRequested)
        {
            LogInDoubt(e, row.Name, row.Grain);
            if (!await HasAsync(reminders, row, cancellationToken)) throw;
        }

        return true;
    }

    private static async Task<bool> HasAsync(
        ReminderObject reminders, ReminderRow row, CancellationToken cancellationToken)
    {
        try
        {
            var stored = await reminders.FindAsync(row.Hash, row.Grain, row.Name, cancellationToken);
            return stored?.Etag == row.Etag;
        }
        catch (Exception e) when (CorfuOrleansException.Covers(e))
        {
            return false;
        }
    }

    private static ReminderTableData ToData(ImmutableArray<ReminderRow> rows) => new(rows.Select(ToEntry));

    private static ReminderEntry ToEntry(ReminderRow row) => new()
    {
        GrainId = GrainId.Parse(row.Grain),
        ReminderName = row.Name,
        StartAt = new DateTime(row.StartTicks, DateTimeKind.Utc),
        Period = TimeSpan.FromTicks(row.PeriodTicks),
        ETag = row.Etag.ToString("N"),
    };

    [LoggerMessage(LogLevel.Warning, "It is in doubt whether reminder {Name} of grain {Grain} is stored; it is read")]
    private partial void LogInDoubt(Exception exception, string name, string grain);
}
