using Corfu.Hosting;
using Microsoft.AspNetCore.Diagnostics.HealthChecks;
using Tango;
using TangoService1;

var builder = WebApplication.CreateBuilder(args);

// The settings name a running cluster: --ConnectionStrings:Corfu corfu://host:port,...
// Without that there is one inside the process, with its data in a folder beside it.
var connection = builder.Configuration.GetConnectionString("Corfu");
await using var cluster = connection is null
    ? await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Folder = "cluster" })
    : null;
builder.Services.AddCorfuClient(connection ?? cluster!.ConnectionString).AddTango().AddContext<ShopContext>();

var app = builder.Build();
app.MapHealthChecks("/health/live", new HealthCheckOptions { Predicate = _ => false });
app.MapHealthChecks("/health/ready", new HealthCheckOptions { Predicate = check => check.Tags.Contains("ready") });

app.MapGet("/stock/{item}", async (string item, ShopContext shop, CancellationToken cancellationToken) =>
    await shop.Stock.CountAsync(item, cancellationToken));

app.MapPost("/stock/{item}", async (string item, int count, ShopContext shop, CancellationToken cancellationToken) =>
{
    try
    {
        await shop.Stock.PutAsync(item, count, cancellationToken);
        return Results.NoContent();
    }
    catch (TangoRejectedException e)
    {
        return Results.Problem(e.Message, statusCode: StatusCodes.Status409Conflict);
    }
});

app.MapGet("/orders/{number}", async (string number, ShopContext shop, CancellationToken cancellationToken) =>
    await shop.Orders.TryGetAsync(number, cancellationToken) is { Found: true, Value: var order }
        ? Results.Ok(order)
        : Results.NotFound());

app.MapPut("/orders/{number}",
    async (string number, Order order, ShopContext shop, CancellationToken cancellationToken) =>
    {
        try
        {
            return await shop.PlaceAsync(number, order, cancellationToken)
                ? Results.Created($"/orders/{number}", order)
                : Results.Conflict();
        }
        catch (TangoRejectedException e)
        {
            return Results.Problem(e.Message, statusCode: StatusCodes.Status409Conflict);
        }
    });

await app.RunAsync();
