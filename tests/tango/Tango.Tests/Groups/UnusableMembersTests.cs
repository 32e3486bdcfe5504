namespace Tango.Tests.Groups;

/// <summary>A program goes on when its group gets a member whose type it has registered and cannot use.</summary>
public class UnusableMembersTests
{
    [Fact]
    public Task Added_member_of_a_type_without_a_formatter_stops_no_program() =>
        RunAsync(new TangoTypeRegistry().Add<Unusable<NoFormatter>>());

    [Fact]
    public Task Added_member_of_a_type_whose_constructor_fails_stops_no_program() =>
        RunAsync(new TangoTypeRegistry().Add<Unusable<NoConstructor>>());

    private static async Task RunAsync(TangoTypeRegistry types)
    {
        await using var world = new World();
        var lacking = world.NewRuntime(new TangoOptions { Types = types });
        var older = await Group.OpenAsync(lacking, isNewer: false);
        Ledger ledger = null!;
        await world.NewRuntime().OpenGroupAsync("group", group => ledger = group.Add<Ledger>("ledger"));
        await ledger.PutAsync(5);
        await older.First.SetAsync("x", 1);
        Assert.Equal(1, await older.First.BalanceAsync("x"));
        Assert.Equal(["first", "ledger", "second"], (await lacking.Directory.ListAsync()).Select(static e => e.Name));
        await lacking.OpenAsync<Accounts>("another", OpenMode.Create);
        Assert.Equal(5, await ledger.SumAsync());
    }
}
