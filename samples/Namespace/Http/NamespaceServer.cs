using System.Text.Json.Serialization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NamespaceSample.Service;

namespace NamespaceSample.Http;

/// <summary>The HTTP server of the namespace.</summary>
internal static class NamespaceServer
{
    public const string Document = "/openapi/v1.json";

    /// <param name="url">As <c>http://127.0.0.1:8080</c>; port 0 takes a free one.</param>
    public static WebApplication Create(NamespaceService service, string url)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls(url);
        builder.Logging.SetMinimumLevel(LogLevel.Warning);
        builder.Services.AddOpenApi();
        builder.Services.AddProblemDetails();
        builder.Services.AddExceptionHandler<NamespaceProblems>();
        builder.Services.ConfigureHttpJsonOptions(json =>
            json.SerializerOptions.Converters.Add(new JsonStringEnumConverter()));
        WebApplication app = builder.Build();
        app.UseExceptionHandler();
        app.UseStatusCodePages();
        app.MapOpenApi();
        NamespaceApi.Map(app, service, TimeProvider.System);
        return app;
    }
}
