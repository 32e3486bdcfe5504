using System.Net.ServerSentEvents;
using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.AspNetCore.Mvc;
using Microsoft.AspNetCore.Routing;
using NamespaceSample.Model;
using NamespaceSample.Service;
using NamespaceSample.Watch;
using Tango.Collections;

namespace NamespaceSample.Http;

/// <summary>The namespace over HTTP. What is refused is told as problem details.</summary>
internal static class NamespaceApi
{
    private const string Changed = "changed";
    private const string Removed = "removed";

    public static void Map(IEndpointRouteBuilder routes, NamespaceService service, TimeProvider time)
    {
        RouteGroupBuilder api = routes.MapGroup("/api");
        api.MapGet("/entries/{**path}", async (string path, CancellationToken stop) =>
                TypedResults.Ok(EntryBody.Of(await service.StatAsync(Full(path), stop))))
            .WithName("Stat").WithSummary("A file or directory.").ProducesProblem(StatusCodes.Status404NotFound);
        api.MapGet("/children/{**path}", async (string? path, CancellationToken stop) =>
                TypedResults.Ok((await service.ListAsync(Full(path), stop)).Select(EntryBody.Of).ToArray()))
            .WithName("List").WithSummary("What is in a directory.").ProducesProblem(StatusCodes.Status404NotFound)
            .ProducesProblem(StatusCodes.Status409Conflict);
        api.MapPut("/entries/{**path}", async (string path, NewEntryBody body, CancellationToken stop) =>
            {
                var full = Full(path);
                var id = Guid.NewGuid().ToString("N");
                await ChangeAsync(body.Kind == EntryKind.Directory
                    ? new NamespaceChange.MakeDirectory(full, id, Now())
                    : new NamespaceChange.CreateFile(full, id, body.Size, Now()), stop);
                return TypedResults.Created(
                    $"/api/entries{full}", EntryBody.Of(await service.StatAsync(full, stop)));
            })
            .WithName("Create").WithSummary("Makes a file or directory.")
            .ProducesProblem(StatusCodes.Status409Conflict);
        api.MapPut("/contents/{**path}", (string path, WriteBody body, CancellationToken stop) =>
                ChangeAsync(new NamespaceChange.Write(Full(path), body.Size, Now()), stop))
            .WithName("Write").WithSummary("Gives a file new contents.")
            .ProducesProblem(StatusCodes.Status404NotFound).ProducesProblem(StatusCodes.Status409Conflict);
        api.MapPut("/attributes/{**path}", (string path, AttributeBody body, CancellationToken stop) =>
                ChangeAsync(new NamespaceChange.SetAttribute(Full(path), body.Name, body.Value, Now()), stop))
            .WithName("SetAttribute").WithSummary("Sets an attribute, or removes it.")
            .ProducesProblem(StatusCodes.Status404NotFound);
        api.MapDelete("/entries/{**path}", (string path, bool? all, CancellationToken stop) =>
                ChangeAsync(new NamespaceChange.Delete(Full(path), all ?? false, Now()), stop))
            .WithName("Delete").WithSummary("Deletes a file or directory; with all=true, and all that is in it.")
            .ProducesProblem(StatusCodes.Status404NotFound).ProducesProblem(StatusCodes.Status409Conflict);
        api.MapPost("/renames", (RenameBody body, CancellationToken stop) =>
                ChangeAsync(new NamespaceChange.Rename(body.From, body.To, Now()), stop))
            .WithName("Rename").WithSummary("Moves a file, or a directory with all that is in it, at once.")
            .ProducesProblem(StatusCodes.Status404NotFound).ProducesProblem(StatusCodes.Status409Conflict);
        api.MapGet("/changes", Results<ServerSentEventsResult<EntryBody>, ProblemHttpResult> (
                string? within, [FromHeader(Name = "Last-Event-ID")] string? last, CancellationToken stop) =>
            {
                if (!TreePath.IsValid(within ?? TreePath.Root))
                    throw new NamespaceException(NamespaceError.BadPath, within!);
                WatchPlace after = WatchPlace.Now;
                if (last is not null && !WatchPlace.TryParse(last, out after))
                    return TypedResults.Problem("It is not the id of an event.", statusCode: 400);
                return TypedResults.ServerSentEvents(EventsAsync(service, within ?? TreePath.Root, after, stop));
            })
            .WithName("Changes").WithSummary("Changes as server-sent events; resumed after Last-Event-ID.");
        return;

        long Now() => time.GetUtcNow().ToUnixTimeSeconds();

        async Task<NoContent> ChangeAsync(NamespaceChange change, CancellationToken stop)
        {
            await service.ChangeAsync(change, stop);
            return TypedResults.NoContent();
        }
    }

    private static string Full(string? path) => $"/{path}";

    private static async IAsyncEnumerable<SseItem<EntryBody>> EventsAsync(
        NamespaceService service, string within, WatchPlace after,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await foreach (NamespaceEvent change in NamespaceWatch.ReadAsync(
            service, within, after, cancellationToken))
        {
            yield return new SseItem<EntryBody>(
                EntryBody.Of(change.Path, change.Entry), change.Entry is null ? Removed : Changed)
            {
                EventId = change.Id.ToString(),
            };
        }
    }
}
