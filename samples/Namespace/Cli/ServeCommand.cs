using System.CommandLine;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Hosting;
using NamespaceSample.App;
using NamespaceSample.Http;

namespace NamespaceSample.Cli;

/// <summary><c>serve</c>: the namespace over HTTP.</summary>
internal static class ServeCommand
{
    private const string DefaultUrl = "http://127.0.0.1:8080";

    public static Command Create()
    {
        var url = new Option<string>("--url")
        {
            Description = "Where to listen; port 0 takes a free one.",
            HelpName = "URL",
            DefaultValueFactory = _ => DefaultUrl,
        };
        url.Validators.Add(result =>
        {
            if (!Uri.TryCreate(result.GetValue(url), UriKind.Absolute, out Uri? parsed)
                || parsed.Scheme != Uri.UriSchemeHttp)
                result.AddError($"--url must be as {DefaultUrl}.");
        });
        var command = new Command("serve",
            "The namespace over HTTP: entries, renames, and changes as server-sent events; described by OpenAPI.")
        {
            url,
        };
        var access = new NamespaceAccess(command);
        command.SetAction((parse, _) => access.RunAsync(parse, async (service, stop) =>
        {
            await using WebApplication app = NamespaceServer.Create(service, parse.GetRequiredValue(url));
            await app.StartAsync(stop);
            string at = app.Urls.First();
            await Console.Out.WriteLineAsync($"serving at {at}, described at {at}{NamespaceServer.Document}");
            await app.WaitForShutdownAsync(stop);
            return ExitCodes.Success;
        }));
        return command;
    }
}
