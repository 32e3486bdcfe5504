using System.Text;
using Corfu.Client;
using Corfu.ConsoleClient;

// Appends its second argument to the log at the connection string of its first, and prints what it reads back. With
// more arguments it works with objects: see Objects.
await using var client = await CorfuClient.ConnectAsync(args[0], new CorfuClientOptions { MaxPayload = 64 << 10 });
if (args.Length > 2)
{
    await Objects.RunAsync(client, args[1], args[2..]);
    return;
}

var position = (await client.AppendAsync(Encoding.UTF8.GetBytes(args[1]), [])).Require();
var page = (await client.ReadManyAsync([position]))[0];
Console.WriteLine($"{position} {Encoding.UTF8.GetString(page.Entry!.Payload.Span)}");
