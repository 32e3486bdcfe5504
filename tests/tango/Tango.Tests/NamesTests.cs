namespace Tango.Tests;

/// <summary>Opening, finding and renaming objects by name.</summary>
public sealed class NamesTests
{
    [Fact]
    public async Task Opening_a_missing_name_fails_and_creates_no_object()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();

        var missing = await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await runtime.OpenAsync<Accounts>("acounts"));
        Assert.Equal("There is no object 'acounts', and OpenMode.Existing does not create it", missing.Message);
        Assert.Equal("acounts", missing.Name);
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await runtime.OpenRemoteAsync<Accounts>("acounts"));
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await runtime.OpenWriteOnlyAsync<Accounts>("acounts"));
        Assert.False(await runtime.Directory.ExistsAsync("acounts"));
        Assert.Empty(await runtime.Directory.ListAsync());
    }

    [Fact]
    public async Task Object_created_by_one_program_is_opened_by_another()
    {
        await using var world = new World();
        var created = await world.NewRuntime().OpenAsync<Accounts>("accounts", OpenMode.Create);
        await created.SetAsync("a", 5);

        var other = world.NewRuntime();
        Assert.True(await other.Directory.ExistsAsync("accounts"));
        Assert.Equal(5, await (await other.OpenAsync<Accounts>("accounts")).BalanceAsync("a"));
        Assert.Equal(5, await (await other.OpenAsync<Accounts>("accounts", OpenMode.Create)).BalanceAsync("a"));
    }

    [Fact]
    public async Task A_renamed_object_keeps_state_id_and_open_handles()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("a", 5);
        var before = await world.TailAsync();
        var id = (await runtime.Directory.ListAsync())[0].Id;

        await world.NewRuntime().Directory.RenameAsync("accounts", "ledger");
        await accounts.SetAsync("a", 6);

        var reopened = await world.NewRuntime().OpenAsync<Accounts>("ledger");
        Assert.Equal(6, await reopened.BalanceAsync("a"));
        Assert.Equal(("ledger", id), (await runtime.Directory.ListAsync()).Select(static e => (e.Name, e.Id)).Single());
        Assert.False(await runtime.Directory.ExistsAsync("accounts"));
        var past = await runtime.History.OpenAsync(before);
        Assert.Equal(5, await (await past.OpenAsync<Accounts>("accounts")).BalanceAsync("a"));
        // The old name is free.
        await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        Assert.NotEqual(id, (await runtime.Directory.ListAsync())[0].Id);
    }

    [Fact]
    public async Task Renamed_member_stays_in_the_group()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        Accounts a = null!, b = null!;
        await runtime.OpenGroupAsync("pair", group => (a, b) = (group.Add<Accounts>("a"), group.Add<Accounts>("b")));
        await b.SetAsync("x", 1);

        await runtime.Directory.RenameAsync("b", "c");
        Assert.Equal(["a", "c"], (await runtime.Directory.ListAsync()).Select(static entry => entry.Name));

        var other = world.NewRuntime();
        await other.OpenGroupAsync("pair", group => (a, b) = (group.Add<Accounts>("a"), group.Add<Accounts>("c")));
        Assert.Equal(1, await b.BalanceAsync("x"));
    }

    [Fact]
    public async Task A_taken_name_a_missing_object_and_a_low_level_are_typed_errors()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        await runtime.OpenAsync<Accounts>("taken", OpenMode.Create);
        Assert.Equal("'taken' exists", (await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.Directory.RenameAsync("accounts", "taken"))).Message);
        await Assert.ThrowsAsync<TangoObjectNotFoundException>(
            async () => await runtime.Directory.RenameAsync("none", "some"));
        await runtime.Directory.RenameAsync("accounts", "accounts");
    }

    [Fact]
    public async Task Of_two_new_names_at_once_one_is_given()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        var id = (await runtime.Directory.ListAsync())[0].Id;
        // As by a caller that found it under its old name.
        var late = DirectoryFormat.Rename(id, "accounts", "other");
        await runtime.Directory.RenameAsync("accounts", "ledger");
        await RawRecords.AppendToDirectoryAsync(world, TangoDirectory.Mutators.Rename, late);
        Assert.Equal("ledger", Assert.Single(await runtime.Directory.ListAsync()).Name);
    }
}
