namespace Tango.Collections.Tests;

/// <summary>A context that gets and loses properties from one version of a program to the next.</summary>
public sealed partial class GrowingContextTests
{
    [Fact]
    public async Task A_property_that_is_added_is_a_new_empty_object_and_older_programs_go_on()
    {
        await using var cluster = new Cluster();
        FirstShop first = await FirstShop.OpenAsync(cluster.NewRuntime());
        await first.Sold.AddAsync(5);
        SecondShop second = await SecondShop.OpenAsync(cluster.NewRuntime());
        Assert.Equal(5, await second.Sold.ReadAsync());
        Assert.Empty(await second.Stock.SnapshotAsync());
        Assert.True((await second.RunTransactionAsync(async _ =>
        {
            await second.Stock.SetAsync("nail", 100);
            await second.Sold.AddAsync(1);
        })).IsCommitted);
        Assert.Equal(6, await first.Sold.ReadAsync());

        // The newer program no longer names the first one's objects, which stay.
        await first.Names.AddAsync("hammer");
        FirstShop again = await FirstShop.OpenAsync(second.Runtime);
        Assert.True(await again.Names.ContainsAsync("hammer"));
        Assert.Equal(["shop/Names", "shop/Sold", "shop/Stock"],
            (await first.Runtime.Directory.ListAsync()).Select(entry => entry.Name));
    }

    [TangoContext("shop")]
    internal sealed partial class FirstShop : TangoContext
    {
        public partial TangoCounter Sold { get; }

        public partial TangoSet<string> Names { get; }
    }

    [TangoContext("shop")]
    internal sealed partial class SecondShop : TangoContext
    {
        public partial TangoDictionary<string, int> Stock { get; }

        public partial TangoCounter Sold { get; }
    }
}
