using Tango;
using Tango.Testing;

namespace TangoService1.Tests;

/// <summary>On a log in memory: no cluster, and the same rules.</summary>
public sealed class ShopTests : IAsyncDisposable
{
    private readonly InMemoryCorfuLog _log = new();
    private readonly TangoRuntime _here;
    private readonly TangoRuntime _there;

    public ShopTests() => (_here, _there) = (new TangoRuntime(_log), new TangoRuntime(_log));

    [Fact]
    public async Task An_order_takes_from_the_stock_and_every_replica_sees_both()
    {
        var shop = await ShopContext.OpenAsync(_here);
        await shop.Stock.PutAsync("tea", 5);
        Assert.True(await shop.PlaceAsync("1", new Order("tea", 2)));

        var replica = await ShopContext.OpenAsync(_there);
        Assert.Equal(3, await replica.Stock.CountAsync("tea"));
        Assert.Equal(new Order("tea", 2), (await replica.Orders.TryGetAsync("1")).Value);
    }

    [Fact]
    public async Task Order_of_more_than_the_stock_leaves_no_trace()
    {
        var shop = await ShopContext.OpenAsync(_here);
        await shop.Stock.PutAsync("tea", 1);
        await Assert.ThrowsAsync<TangoRejectedException>(async () => await shop.PlaceAsync("1", new Order("tea", 2)));
        Assert.Equal(1, await shop.Stock.CountAsync("tea"));
        Assert.False(await shop.Orders.ContainsKeyAsync("1"));
    }

    [Theory]
    [InlineData(-1, 0)]
    [InlineData(int.MaxValue, 0)]
    [InlineData(0, -1)]
    [InlineData(0, 6)]
    public async Task Senseless_count_is_refused_and_leaves_the_stock_unchanged(int put, int taken)
    {
        var stock = (await ShopContext.OpenAsync(_here)).Stock;
        await stock.PutAsync("tea", 5);
        await Assert.ThrowsAsync<TangoRejectedException>(async () =>
        {
            await stock.PutAsync("tea", put);
            await stock.TakeAsync("tea", taken);
        });
        Assert.Equal(5, await stock.CountAsync("tea"));
    }

    [Fact]
    public async Task Of_two_orders_for_the_last_item_one_is_placed()
    {
        var shops = new[] { await ShopContext.OpenAsync(_here), await ShopContext.OpenAsync(_there) };
        await shops[0].Stock.PutAsync("tea", 1);
        var rejected = 0;
        await Task.WhenAll(shops.Select(async (shop, number) =>
        {
            try
            {
                await shop.PlaceAsync($"{number}", new Order("tea", 1));
            }
            catch (TangoRejectedException)
            {
                Interlocked.Increment(ref rejected);
            }
        }));
        Assert.Equal(1, rejected);
        Assert.Equal(0, await shops[1].Stock.CountAsync("tea"));
        Assert.Equal(1, await shops[1].Orders.CountAsync());
    }

    public async ValueTask DisposeAsync()
    {
        await _here.DisposeAsync();
        await _there.DisposeAsync();
    }
}
