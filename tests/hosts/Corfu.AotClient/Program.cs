using Corfu.AotClient;
using Corfu.Client;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Tango;

// A service in one run: connects to the cluster at the connection string, opens a context, commits a transaction, reads
// it back, and prints what it read.
var builder = Host.CreateEmptyApplicationBuilder(null);
builder.Services.AddCorfuClient(args[0]).AddTango().AddContext<ShopContext>();
using var host = builder.Build();
await host.StartAsync();
var shop = host.Services.GetRequiredService<ShopContext>();

await shop.Stock.PutAsync("tea", 10);
var outcome = await shop.RunTransactionAsync(async _ =>
{
    var left = await shop.Stock.TakeAsync("tea", 4);
    await shop.Orders.SetAsync("Ada", new Order("tea", 10 - left));
});
outcome.ThrowIfNotCommitted();

try
{
    await shop.Stock.TakeAsync("tea", 7);
}
catch (TangoRejectedException rejected)
{
    Console.WriteLine($"rejected: {rejected.Message}");
}

var order = (await shop.Orders.TryGetAsync("Ada")).Value!;
Console.WriteLine($"left={await shop.Stock.LeftAsync("tea")} order={order.Item}*{order.Count}");
await shop.Note.WriteAsync(new Note { Text = "kept" });
(await shop.Note.ReadAsync())!.Text = "changed";
Console.WriteLine($"note={(await shop.Note.ReadAsync())!.Text}");
await host.StopAsync();
