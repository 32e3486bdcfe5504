using Corfu.Orleans.Tests.Support;
using Orleans;
using Orleans.Runtime;
using Tango.Testing;

namespace Corfu.Orleans.Tests.Contracts;

/// <summary>Orleans' expectations of a reminder table, a clause each. Two silos share the log.</summary>
public sealed class ReminderTableTests : IAsyncDisposable
{
    private readonly TangoTestHost _log = new();
    private readonly TestSilo _first;
    private readonly TestSilo _second;
    private readonly GrainId _grain = GrainId.Create("clock", "foo/bar\\#b_a_z?");

    public ReminderTableTests()
    {
        _first = new TestSilo(_log);
        _second = new TestSilo(_log);
    }

    private IReminderTable Table => _first.Reminders;

    private IReminderTable Other => _second.Reminders;

    public ValueTask DisposeAsync() => _log.DisposeAsync();

    [Fact]
    public async Task Reminder_is_read_by_every_silo_as_stored()
    {
        var reminder = New(_grain, "wake/up \\#?");

        var etag = await Table.UpsertRow(reminder);

        var read = await Other.ReadRow(_grain, reminder.ReminderName);
        Assert.NotNull(read);
        Assert.Equal(etag, read.ETag);
        Assert.Equal(_grain, read.GrainId);
        Assert.Equal(reminder.ReminderName, read.ReminderName);
        Assert.Equal(reminder.StartAt, read.StartAt);
        Assert.Equal(DateTimeKind.Utc, read.StartAt.Kind);
        Assert.Equal(reminder.Period, read.Period);
    }

    [Fact]
    public async Task A_reminder_that_was_never_stored_is_not_there()
    {
        Assert.Null(await Table.ReadRow(_grain, "none"));
        Assert.Empty((await Table.ReadRows(_grain)).Reminders);
    }

    [Fact]
    public async Task Reminder_stored_again_without_an_etag_is_replaced_and_gets_a_new_one()
    {
        var first = await Table.UpsertRow(New(_grain, "a"));
        var later = New(_grain, "a");
        later.Period = TimeSpan.FromHours(3);

        var second = await Other.UpsertRow(later);

        Assert.NotEqual(first, second);
        Assert.Equal(TimeSpan.FromHours(3), Assert.Single((await Table.ReadRows(_grain)).Reminders).Period);
    }

    [Fact]
    public async Task Removing_needs_the_newest_etag_and_the_name()
    {
        var old = (await Table.UpsertRow(New(_grain, "a")))!;
        var newest = (await Table.UpsertRow(New(_grain, "a")))!;

        Assert.False(await Other.RemoveRow(_grain, "a", old));
        Assert.False(await Other.RemoveRow(_grain, "b", newest));
        Assert.False(await Other.RemoveRow(GrainId.Create("clock", "other"), "a", newest));
        Assert.False(await Other.RemoveRow(_grain, "a", "no etag"));
        Assert.True(await Other.RemoveRow(_grain, "a", newest));
        Assert.False(await Other.RemoveRow(_grain, "a", newest));
        Assert.Null(await Table.ReadRow(_grain, "a"));
    }

    [Fact]
    public async Task Grain_has_no_reminders_of_other_grains()
    {
        await Table.UpsertRow(New(_grain, "a"));
        await Table.UpsertRow(New(_grain, ""));
        await Table.UpsertRow(New(GrainId.Create("clock", "other"), "a"));

        var rows = (await Other.ReadRows(_grain)).Reminders;

        Assert.Equal(["", "a"], rows.Select(static row => row.ReminderName).Order());
    }

    [Fact]
    public async Task Ranges_are_open_at_the_beginning_closed_at_the_end_and_wrap()
    {
        var hashes = new List<uint>();
        for (var i = 0; i < 60; i++)
        {
            var grain = GrainId.Create("clock", $"grain {i}");
            hashes.Add(grain.GetUniformHashCode());
            await Table.UpsertRow(New(grain, "a"));
        }

        uint[] borders = [0, 1, uint.MaxValue, .. hashes.Take(8), .. hashes.Take(8).Select(static hash => hash - 1)];
        foreach (var begin in borders)
        {
            foreach (var end in borders)
            {
                var expected = hashes.Where(hash => begin < end
                    ? hash > begin && hash <= end
                    : hash > begin || hash <= end);
                var rows = (await Other.ReadRows(begin, end)).Reminders;
                Assert.Equal(expected.Order(), rows.Select(static row => row.GrainId.GetUniformHashCode()).Order());
            }
        }
    }

    [Fact]
    public async Task Reminders_stored_at_once_have_different_etags_and_the_last_stays()
    {
        var etags = await Task.WhenAll(Enumerable.Range(0, 20).Select(
            i => (i % 2 == 0 ? Table : Other).UpsertRow(New(_grain, "a"))));

        Assert.Equal(20, etags.Distinct().Count());
        Assert.Contains((await Table.ReadRow(_grain, "a"))!.ETag, etags);
    }

    [Fact]
    public async Task Clearing_removes_all()
    {
        await Table.UpsertRow(New(_grain, "a"));

        await Other.TestOnlyClearTable();

        Assert.Empty((await Table.ReadRows(0, 0)).Reminders);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Reminder_in_doubt_is_acknowledged_only_if_stored(bool isWritten)
    {
        await Table.UpsertRow(New(_grain, "a"));
        _first.Connection.LeaveNextInDoubt(isWritten);

        if (isWritten)
            Assert.Equal(await Table.UpsertRow(New(_grain, "a")), (await Other.ReadRow(_grain, "a"))!.ETag);
        else
            await Assert.ThrowsAsync<CorfuOutcomeUnknownException>(() => Table.UpsertRow(New(_grain, "a")));
    }

    private static ReminderEntry New(GrainId grain, string name) => new()
    {
        GrainId = grain,
        ReminderName = name,
        StartAt = new DateTime(2026, 11, 24, 12, 0, 0, 123, DateTimeKind.Utc),
        Period = TimeSpan.FromMinutes(1),
    };
}
