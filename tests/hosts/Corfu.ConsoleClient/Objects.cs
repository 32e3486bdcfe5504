using Corfu.Client;
using Tango;
using Tango.Collections;

namespace Corfu.ConsoleClient;

/// <summary>Commands of a program with a few types over the objects of a log: <c>note NAME TEXT</c> writes a register,
/// <c>read NAME</c> prints it, <c>checkpoint NAME</c> makes its checkpoint, and <c>list NAME</c> prints a dictionary, a
/// line a key.</summary>
internal static class Objects
{
    public static async Task RunAsync(CorfuClient client, string verb, string[] arguments)
    {
        var types = new TangoTypeRegistry().Add<TangoRegister<string>>();
        await using var runtime = new TangoRuntime(client, new TangoOptions { Checkpoints = null, Types = types });
        var name = arguments[0];
        switch (verb)
        {
            case "note":
                await (await runtime.OpenAsync<TangoRegister<string>>(name, OpenMode.Create)).WriteAsync(arguments[1]);
                break;
            case "read":
                Console.WriteLine(
                    await (await runtime.OpenAsync<TangoRegister<string>>(name, OpenMode.Create)).ReadAsync());
                break;
            case "checkpoint":
                Console.WriteLine((await runtime.Checkpoints.WriteAsync(name)).Offset);
                break;
            case "list":
                var dictionary = await runtime.OpenAsync<TangoDictionary<int, string>>(name, OpenMode.Create);
                foreach (var (key, value) in (await dictionary.SnapshotAsync()).OrderBy(pair => pair.Key))
                    Console.WriteLine($"{key} {value.TrimEnd('.')}");
                break;
            default:
                throw new ArgumentException($"'{verb}' is unknown", nameof(verb));
        }
    }
}
