using NamespaceSample.Import;
using NamespaceSample.Model;
using NamespaceSample.Service;
using Tango;

namespace NamespaceSample.Tests;

public sealed class ServiceTests
{
    // Paths of different partitions.
    private const string One = "/src";
    private const string Other = "/docs";

    [Fact]
    public void The_test_directories_are_in_different_partitions() =>
        Assert.NotEqual(PartitionMap.IndexOf(One), PartitionMap.IndexOf(Other));

    /// <summary>A directory goes to and fro between the partitions; each look at all sees it once, whole.</summary>
    [Fact]
    public async Task A_rename_across_partitions_is_seen_whole_or_not_at_all()
    {
        await using var logs = new Logs();
        await logs.HostAsync();
        NamespaceService writer = await logs.OpenAsync(), reader = await logs.OpenAsync();
        await writer.ChangeAsync(new NamespaceChange.MakeDirectory(One, "d", 1));
        for (int i = 0; i < 5; i++)
            await writer.ChangeAsync(new NamespaceChange.CreateFile($"{One}/f{i}", $"f{i}", i, 1));
        await writer.ChangeAsync(new NamespaceChange.SetAttribute($"{One}/f0", "owner", "me", 1));
        Task moving = Task.Run(async () =>
        {
            for (int i = 0; i < 40; i++)
            {
                await writer.ChangeAsync(
                    i % 2 == 0 ? new NamespaceChange.Rename(One, Other, 1) : new NamespaceChange.Rename(Other, One, 1));
            }
        });
        while (!moving.IsCompleted)
        {
            NamespaceState state = await reader.ReadAllAsync();
            string[] paths = [.. state.Entries.Select(pair => pair.Key).Order(StringComparer.Ordinal)];
            Assert.Equal(6, paths.Length);
            Assert.All(paths, path => Assert.StartsWith(paths[0], path));
            Assert.Equal("f0", Assert.Single(state.Attributes).Key);
        }

        await moving;
    }

    [Fact]
    public async Task Of_two_renames_onto_one_path_one_is_refused()
    {
        await using var logs = new Logs();
        await logs.HostAsync();
        NamespaceService[] clients = [await logs.OpenAsync(), await logs.OpenAsync()];
        await clients[0].ChangeAsync(new NamespaceChange.MakeDirectory(One, "d1", 1));
        await clients[0].ChangeAsync(new NamespaceChange.MakeDirectory(Other, "d2", 1));
        string[] sources = [One, Other];
        NamespaceError?[] errors = await Task.WhenAll(clients.Select(async (client, i) =>
        {
            try
            {
                await client.ChangeAsync(new NamespaceChange.Rename(sources[i], "/target", 1));
                return (NamespaceError?)null;
            }
            catch (NamespaceException e)
            {
                return e.Error;
            }
        }));
        Assert.Equal([null, NamespaceError.Exists], errors.Order());
        Assert.Equal(2, (await clients[0].ListAsync("/")).Length);
    }

    [Fact]
    public async Task Changes_are_refused_as_by_a_plain_namespace()
    {
        await using var logs = new Logs();
        await logs.HostAsync();
        NamespaceService service = await logs.OpenAsync();
        var plain = new PlainNamespace();
        var random = new Random(1);
        string[] paths = ["/src", "/docs", "/src/a", "/docs/a", "/src/a/b", "/docs/a/b", "/", "src", "/src/"];
        HashSet<NamespaceError> met = [];
        for (int i = 0; i < 400; i++)
        {
            NamespaceChange change = Random(random, paths, i);
            NamespaceError? expected = Error(() => plain.Apply(change));
            NamespaceError? actual = null;
            try
            {
                await service.ChangeAsync(change);
            }
            catch (NamespaceException e)
            {
                actual = e.Error;
            }

            Assert.Equal((change, expected), (change, actual));
            if (actual is { } error) met.Add(error);
        }

        NamespaceState state = await service.ReadAllAsync();
        Assert.Equal(plain.Entries, state.Entries.OrderBy(pair => pair.Key, StringComparer.Ordinal));
        Assert.Equal(
            plain.Attributes.OrderBy(pair => pair.Key).SelectMany(pair => pair.Value),
            state.Attributes.OrderBy(pair => pair.Key).SelectMany(pair => pair.Value));
        Assert.Equal(Enum.GetValues<NamespaceError>().Length, met.Count);
    }

    [Fact]
    public async Task Directory_is_listed_with_the_attributes_of_all_entries()
    {
        await using var logs = new Logs();
        await logs.HostAsync();
        NamespaceService service = await logs.OpenAsync();
        await service.ChangeAsync(new NamespaceChange.MakeDirectory(One, "d1", 1));
        await service.ChangeAsync(new NamespaceChange.MakeDirectory(Other, "d2", 1));
        await service.ChangeAsync(new NamespaceChange.CreateFile("/src/f", "f", 7, 2));
        await service.ChangeAsync(new NamespaceChange.SetAttribute("/src/f", "owner", "me", 3));
        Assert.Equal([Other, One], (await service.ListAsync("/")).Select(status => status.Path));
        EntryStatus file = Assert.Single(await service.ListAsync(One));
        Assert.Equal(("/src/f", 7, "me"), (file.Path, file.Entry.Size, file.Attributes["owner"]));
        Assert.Equal(NamespaceError.NotADirectory, await ErrorAsync(() => service.ListAsync("/src/f").AsTask()));
        Assert.Equal(NamespaceError.NotFound, await ErrorAsync(() => service.StatAsync("/none").AsTask()));
    }

    [Fact]
    public void A_directory_of_this_machine_is_read_top_down_and_bounded()
    {
        string root = Directory.CreateTempSubdirectory("namespace-").FullName;
        try
        {
            foreach (string directory in new[] { "a/b", ".git/x", "obj" })
                Directory.CreateDirectory(Path.Combine(root, directory));
            File.WriteAllText(Path.Combine(root, "a/b/f"), "12345");
            IReadOnlyList<NamespaceChange> changes = DirectoryReader.Read(root, 100);
            Assert.Equal(["/a", "/a/b", "/a/b/f"], changes.Select(change => change.Path));
            Assert.Equal(5, Assert.IsType<NamespaceChange.CreateFile>(changes[2]).Size);
            Assert.Equal(2, DirectoryReader.Read(root, 2).Count);
        }
        finally
        {
            Directory.Delete(root, recursive: true);
        }
    }

    private static NamespaceChange Random(Random random, string[] paths, int number)
    {
        string path = paths[random.Next(paths.Length)], other = paths[random.Next(paths.Length)];
        return random.Next(7) switch
        {
            0 => new NamespaceChange.CreateFile(path, $"f{number}", number % 25 == 0 ? -1 : number, number),
            1 or 2 => new NamespaceChange.MakeDirectory(path, $"d{number}", number),
            3 => new NamespaceChange.Write(path, number, number),
            4 => new NamespaceChange.SetAttribute(path, "name", number % 3 == 0 ? null : $"{number}", number),
            5 => new NamespaceChange.Rename(path, other, number),
            _ => new NamespaceChange.Delete(path, number % 4 == 0, number),
        };
    }

    private static NamespaceError? Error(Action action)
    {
        try
        {
            action();
            return null;
        }
        catch (NamespaceException e)
        {
            return e.Error;
        }
    }

    private static async Task<NamespaceError> ErrorAsync(Func<Task> action) =>
        (await Assert.ThrowsAsync<NamespaceException>(action)).Error;
}
