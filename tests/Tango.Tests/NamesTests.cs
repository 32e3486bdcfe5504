namespace Tango.Tests;

/// <summary>Opening, finding and renaming objects by name.</summary>
public sealed class NamesTests
{
    [Fact]
    public async Task Opening_a_name_that_is_not_there_is_an_error_and_creates_nothing()
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
        Assert.False(await runtime.ExistsAsync("acounts"));
        Assert.Empty(await runtime.ListObjectsAsync());
    }

    [Fact]
    public async Task What_one_program_created_another_opens()
    {
        await using var world = new World();
        var created = await world.NewRuntime().OpenAsync<Accounts>("accounts", OpenMode.Create);
        await created.SetAsync("a", 5);

        var other = world.NewRuntime();
        Assert.True(await other.ExistsAsync("accounts"));
        Assert.Equal(5, await (await other.OpenAsync<Accounts>("accounts")).BalanceAsync("a"));
        Assert.Equal(5, await (await other.OpenAsync<Accounts>("accounts", OpenMode.Create)).BalanceAsync("a"));
    }
}
