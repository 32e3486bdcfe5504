using Corfu.Orleans.Tests.Support;
using Orleans;
using Orleans.Runtime;
using Tango.Testing;

namespace Corfu.Orleans.Tests.Contracts;

/// <summary>Orleans' expectations of a membership table, a clause each. Two silos share the log.</summary>
public sealed class MembershipTableTests : IAsyncDisposable
{
    private readonly TangoTestHost _log = new();
    private readonly TestSilo _first;
    private readonly TestSilo _second;

    public MembershipTableTests()
    {
        _first = new TestSilo(_log);
        _second = new TestSilo(_log);
    }

    private IMembershipTable Table => _first.Membership;

    private IMembershipTable Other => _second.Membership;

    public ValueTask DisposeAsync() => _log.DisposeAsync();

    [Fact]
    public async Task A_new_table_is_empty_and_has_version_zero_and_an_etag()
    {
        await Table.InitializeAsync();

        var data = await Table.AllAsync();

        Assert.Empty(data.Members);
        Assert.Equal(0, data.Version.Version);
        Assert.NotNull(data.Version.VersionEtag);
    }

    [Fact]
    public async Task Second_initialization_has_no_effect()
    {
        var entry = await InsertAsync();

        await Other.InitializeAsync();

        Assert.NotNull((await Other.AllAsync()).TryGet(entry.SiloAddress));
    }

    [Fact]
    public async Task An_insert_adds_the_row_and_takes_the_new_version_and_a_new_etag()
    {
        var next = (await Table.AllAsync()).Version.Next();
        var entry = Silos.NewEntry();

        Assert.True(await Table.InsertAsync(entry, next));

        var data = await Other.AllAsync();
        Assert.Equal(1, data.Version.Version);
        Assert.NotEqual(next.VersionEtag, data.Version.VersionEtag);
        var (stored, etag) = Assert.Single(data.Members);
        Assert.Equal(entry.ToFullString(), stored.ToFullString());
        Assert.NotEmpty(etag);
    }

    [Fact]
    public async Task All_of_an_entry_comes_back()
    {
        var entry = Silos.NewEntry();
        entry.RoleName = "role";
        entry.UpdateZone = 3;
        entry.FaultZone = 4;
        entry.AddSuspector(Silos.NewAddress(), entry.StartTime.AddSeconds(1));
        entry.AddSuspector(Silos.NewAddress(), entry.StartTime.AddSeconds(2));

        Assert.True(await Table.InsertAsync(entry, (await Table.AllAsync()).Version.Next()));

        var stored = Assert.Single((await Other.RowAsync(entry.SiloAddress)).Members).Item1;
        Assert.Equal(entry.ToFullString(), stored.ToFullString());
        Assert.Equal(entry.SuspectTimes, stored.SuspectTimes);
        Assert.Equal(DateTimeKind.Utc, stored.StartTime.Kind);
    }

    [Fact]
    public async Task An_entry_that_is_read_is_the_callers_to_change()
    {
        var entry = await InsertAsync();
        (await Table.RowAsync(entry.SiloAddress)).Members[0].Item1.Status = SiloStatus.Dead;

        Assert.Equal(SiloStatus.Joining, (await Table.RowAsync(entry.SiloAddress)).Members[0].Item1.Status);
    }

    [Fact]
    public async Task An_insert_with_an_old_table_version_is_refused()
    {
        var old = (await Table.AllAsync()).Version.Next();
        Assert.True(await Table.InsertAsync(Silos.NewEntry(), old));

        Assert.False(await Table.InsertAsync(Silos.NewEntry(), old));

        var data = await Table.AllAsync();
        Assert.Equal(1, data.Version.Version);
        Assert.Single(data.Members);
    }

    [Fact]
    public async Task An_insert_of_a_silo_that_has_a_row_is_refused()
    {
        var entry = await InsertAsync();

        Assert.False(await Table.InsertAsync(entry, (await Table.AllAsync()).Version.Next()));

        Assert.Equal(1, (await Table.AllAsync()).Version.Version);
    }

    [Fact]
    public async Task An_update_replaces_the_row_and_changes_both_etags()
    {
        var entry = await InsertAsync();
        var before = await Table.AllAsync();
        var etag = before.TryGet(entry.SiloAddress)!.Item2;
        entry.Status = SiloStatus.Active;

        Assert.True(await Table.UpdateAsync(entry, etag, before.Version.Next()));

        var after = await Other.AllAsync();
        Assert.Equal(2, after.Version.Version);
        Assert.NotEqual(before.Version.VersionEtag, after.Version.VersionEtag);
        var (stored, newEtag) = after.TryGet(entry.SiloAddress)!;
        Assert.Equal(SiloStatus.Active, stored.Status);
        Assert.NotEqual(etag, newEtag);
    }

    [Fact]
    public async Task An_update_with_an_old_table_version_is_refused()
    {
        var entry = await InsertAsync();
        var old = (await Table.AllAsync()).Version.Next();
        await InsertAsync();
        var data = await Table.AllAsync();

        Assert.False(await Table.UpdateAsync(entry, data.TryGet(entry.SiloAddress)!.Item2, old));

        Assert.Equal(data.Version, (await Table.AllAsync()).Version);
    }

    [Fact]
    public async Task An_update_with_an_old_row_etag_is_refused()
    {
        var entry = await InsertAsync();
        var first = await Table.AllAsync();
        var old = first.TryGet(entry.SiloAddress)!.Item2;
        Assert.True(await Table.UpdateAsync(entry, old, first.Version.Next()));

        Assert.False(await Table.UpdateAsync(entry, old, (await Table.AllAsync()).Version.Next()));

        Assert.Equal(2, (await Table.AllAsync()).Version.Version);
    }

    [Fact]
    public async Task An_update_of_a_silo_without_a_row_is_refused()
    {
        var entry = await InsertAsync();
        var data = await Table.AllAsync();

        Assert.False(await Table.UpdateAsync(
            Silos.NewEntry(), data.TryGet(entry.SiloAddress)!.Item2, data.Version.Next()));
    }

    [Theory]
    [InlineData("")]
    [InlineData("none")]
    [InlineData("-1")]
    public async Task An_etag_of_another_provider_is_refused(string etag)
    {
        var entry = await InsertAsync();
        var data = await Table.AllAsync();

        Assert.False(await Table.UpdateAsync(entry, etag, data.Version.Next()));
        Assert.False(await Table.InsertAsync(Silos.NewEntry(), new TableVersion(2, etag)));
    }

    [Fact]
    public async Task Reading_a_silo_without_a_row_gives_the_version_alone()
    {
        await InsertAsync();

        var data = await Table.RowAsync(Silos.NewAddress());

        Assert.Empty(data.Members);
        Assert.Equal(1, data.Version.Version);
    }

    [Fact]
    public async Task Simultaneous_inserts_with_one_version_take_effect_once()
    {
        var next = (await Table.AllAsync()).Version.Next();

        var outcomes = await Task.WhenAll(Enumerable.Range(0, 20).Select(
            i => (i % 2 == 0 ? Table : Other).InsertAsync(Silos.NewEntry(), next)));

        Assert.Single(outcomes, taken => taken);
        Assert.Single((await Table.AllAsync()).Members);
    }

    [Fact]
    public async Task Updates_at_once_are_each_counted_once()
    {
        var entry = await InsertAsync();

        await Task.WhenAll(Enumerable.Range(0, 20).Select(async i =>
        {
            var table = i % 2 == 0 ? Table : Other;
            while (true)
            {
                var data = await table.AllAsync();
                var (row, etag) = data.TryGet(entry.SiloAddress)!;
                row.FaultZone++;
                if (await table.UpdateAsync(row, etag, data.Version.Next())) return;
            }
        }));

        var after = await Table.AllAsync();
        Assert.Equal(21, after.Version.Version);
        Assert.Equal(20, Assert.Single(after.Members).Item1.FaultZone);
    }

    [Fact]
    public async Task Being_alive_is_noted_without_a_new_version_or_etag()
    {
        var entry = await InsertAsync(SiloStatus.Active);
        var before = await Table.AllAsync();
        var alive = entry.IAmAliveTime.AddSeconds(5);

        await Table.TouchAsync(new MembershipEntry { SiloAddress = entry.SiloAddress, IAmAliveTime = alive });

        var after = await Other.AllAsync();
        Assert.Equal(before.Version, after.Version);
        var (stored, etag) = Assert.Single(after.Members);
        Assert.Equal(alive, stored.IAmAliveTime);
        Assert.Equal(SiloStatus.Active, stored.Status);
        Assert.Equal(before.Members[0].Item2, etag);
    }

    [Fact]
    public async Task Sign_of_life_of_a_silo_without_a_row_has_no_effect()
    {
        await Table.TouchAsync(Silos.NewEntry());

        Assert.Empty((await Table.AllAsync()).Members);
    }

    [Fact]
    public async Task Cleaning_up_removes_old_silos_that_are_not_active()
    {
        foreach (var status in Enum.GetValues<SiloStatus>())
        {
            await InsertAsync(status, age: TimeSpan.FromDays(10));
            await InsertAsync(status);
        }

        await Table.CleanUpAsync(new DateTimeOffset(Silos.NewEntry().StartTime).AddDays(-3));

        var left = (await Other.AllAsync()).Members.Select(static member => member.Item1).ToList();
        Assert.Equal(Enum.GetValues<SiloStatus>().Length + 1, left.Count);
        Assert.Equal(2, left.Count(static entry => entry.Status == SiloStatus.Active));
    }

    [Fact]
    public async Task A_silo_that_was_voted_against_just_now_is_not_cleaned_up()
    {
        var dead = Silos.NewEntry(SiloStatus.Dead);
        var now = dead.StartTime;
        dead.StartTime = dead.IAmAliveTime = now.AddDays(-10);
        dead.AddSuspector(Silos.NewAddress(), now.AddDays(-9));
        dead.AddSuspector(Silos.NewAddress(), now);
        Assert.True(await Table.InsertAsync(dead, (await Table.AllAsync()).Version.Next()));

        await Table.CleanUpAsync(new DateTimeOffset(now).AddDays(-3));
        Assert.Single((await Other.AllAsync()).Members);

        await Table.CleanUpAsync(new DateTimeOffset(now).AddSeconds(1));
        Assert.Empty((await Other.AllAsync()).Members);
    }

    [Fact]
    public async Task An_update_by_another_silo_takes_no_sign_of_life_back()
    {
        var entry = await InsertAsync(SiloStatus.Active);
        var read = await Other.AllAsync();
        var alive = entry.IAmAliveTime.AddMinutes(1);
        await Table.TouchAsync(new MembershipEntry { SiloAddress = entry.SiloAddress, IAmAliveTime = alive });

        var (row, etag) = read.TryGet(entry.SiloAddress)!;
        row.AddSuspector(Silos.NewAddress(), entry.StartTime);
        Assert.True(await Other.UpdateAsync(row, etag, read.Version.Next()));

        var stored = Assert.Single((await Table.AllAsync()).Members).Item1;
        Assert.Equal(alive, stored.IAmAliveTime);
        Assert.Single(stored.SuspectTimes!);
    }

    [Fact]
    public async Task Deleting_empties_the_table_and_no_old_etag_becomes_valid_again()
    {
        await InsertAsync();
        var old = (await Table.AllAsync()).Version;

        await Table.DeleteAsync("cluster");

        var data = await Other.AllAsync();
        Assert.Empty(data.Members);
        Assert.Equal(0, data.Version.Version);
        Assert.False(await Table.InsertAsync(Silos.NewEntry(), old.Next()));
        await InsertAsync();
        Assert.False(await Table.InsertAsync(Silos.NewEntry(), old.Next()));
    }

    [Fact]
    public async Task Deleting_leaves_no_object_of_the_cluster_and_none_of_another_is_touched()
    {
        await InsertAsync();
        await _first.Directory.Lookup(GrainId.Create("cart", "one"));
        await _first.Reminders.TestOnlyClearTable();
        await using var stranger = new TestSilo(_log, clusterId: "cluster2");
        await stranger.Membership.AllAsync();
        await stranger.Directory.Lookup(GrainId.Create("cart", "one"));

        await Table.DeleteAsync("cluster");
        await Table.DeleteAsync("cluster that never was");

        var left = (await _first.Runtime.Directory.ListAsync()).Select(static entry => entry.Name);
        Assert.Equal(
            ["orleans/cluster2/directory/default", "orleans/cluster2/membership", "orleans/service/reminders"],
            left.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Clusters_of_one_log_have_separate_tables()
    {
        await InsertAsync();
        await using var stranger = new TestSilo(_log, clusterId: "another/cluster");

        Assert.Empty((await stranger.Membership.AllAsync()).Members);

        await stranger.Membership.DeleteAsync("cluster");
        Assert.Empty((await Table.AllAsync()).Members);
    }

    [Fact]
    public async Task Update_in_doubt_is_no_refusal_and_the_table_shows_the_outcome()
    {
        var entry = await InsertAsync();
        var data = await Table.AllAsync();
        _first.Connection.LeaveNextInDoubt();

        await Assert.ThrowsAsync<CorfuOutcomeUnknownException>(
            () => Table.UpdateAsync(entry, data.TryGet(entry.SiloAddress)!.Item2, data.Version.Next()));

        Assert.Equal(2, (await Other.AllAsync()).Version.Version);
    }

    [Fact]
    public async Task A_table_that_cannot_be_reached_is_an_error()
    {
        await Table.AllAsync();
        _first.Connection.Lose();

        await Assert.ThrowsAsync<CorfuOrleansException>(() => Table.AllAsync());

        _first.Connection.Restore();
        Assert.Empty((await Table.AllAsync()).Members);
    }

    private async Task<MembershipEntry> InsertAsync(
        SiloStatus status = SiloStatus.Joining, TimeSpan age = default)
    {
        var entry = Silos.NewEntry(status);
        entry.StartTime -= age;
        entry.IAmAliveTime -= age;
        Assert.True(await Table.InsertAsync(entry, (await Table.AllAsync()).Version.Next()));
        return entry;
    }
}
