using System.Text;
using Corfu.Client;

// Appends its second argument to the log at the connection string of its first, and prints what it reads back.
await using var client = await CorfuClient.ConnectAsync(args[0]);
var position = (await client.AppendAsync(Encoding.UTF8.GetBytes(args[1]), [])).Require();
var page = (await client.ReadManyAsync([position]))[0];
Console.WriteLine($"{position} {Encoding.UTF8.GetString(page.Entry!.Payload.Span)}");
