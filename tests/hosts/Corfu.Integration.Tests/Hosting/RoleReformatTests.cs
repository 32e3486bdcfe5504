using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Hosting;

/// <summary>The order in which a removed unit gets its new folder, cut at every step.</summary>
public sealed class RoleReformatTests
{
    private const string Folder = "/node/unit";

    private static readonly Guid s_old = Guid.NewGuid();

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Reformat_killed_at_any_step_is_finished_by_the_next_start_without_serving_old_data(bool isConfigured)
    {
        for (var steps = 0; steps <= 3; steps++)
        {
            var files = new FakeFiles(isConfigured ? s_old : Guid.Empty);
            Assert.Equal(steps == 3 || (steps == 2 && !isConfigured),
                Attempt(files, steps, r => r.Run(s_old, files.Configured)));

            // Killed once more at each step of the start that finishes it.
            while (!Attempt(files, 1, r => r.Resume(files.Configured)))
            {
            }

            var served = files.Folders[Folder];
            if (steps == 0)
            {
                Assert.Equal(s_old, served);
                continue;
            }

            Assert.NotEqual(s_old, served);
            Assert.Equal(isConfigured ? served : Guid.Empty, files.Configured);
            Assert.Equal(s_old, files.Folders[RoleReformat.KeptPath(Folder, s_old)]);
            Assert.Equal(2, files.Folders.Count);
        }
    }

    [Fact]
    public void A_folder_that_vanished_is_not_made_again()
    {
        var files = new FakeFiles(s_old);
        files.Folders.Clear();
        Assert.Equal(s_old, new RoleReformat(files, Folder, Guid.NewGuid).Resume(s_old));
        Assert.Empty(files.Folders);
    }

    [Fact]
    public void Configuration_on_a_disk_names_the_new_identity()
    {
        using var temp = new TempFolder();
        var role = new NodeRoleOptions { Role = NodeRole.Unit, Folder = temp.File("unit"), Id = s_old };
        var node = new NodeOptions { Cluster = Guid.NewGuid(), ConfigFile = temp.File("node.json") };
        new NodeConfig("n", node.Cluster, "127.0.0.1:1", false, null,
            [new NodeConfigRole("Unit", s_old, "unit")]).Save(node.ConfigFile);
        RoleFolder.Format(role.Folder, new ClusterId(node.Cluster), "Unit", new NodeId(s_old));
        File.WriteAllText(temp.File("unit/entry"), "old");
        var id = new RoleReformat(new ReformatFiles(node, role), role.Folder, Guid.NewGuid).Run(s_old, s_old);
        Assert.Equal(id, NodeConfig.Load(node.ConfigFile).Roles[0].Id);
        Assert.False(File.Exists(temp.File("unit/entry")));
        Assert.True(File.Exists(Path.Combine(RoleReformat.KeptPath(role.Folder, s_old), "entry")));
    }

    private static bool Attempt(FakeFiles files, int steps, Action<RoleReformat> act)
    {
        files.StepsLeft = steps;
        try
        {
            act(new RoleReformat(files, Folder, Guid.NewGuid));
            return true;
        }
        catch (KilledException)
        {
            return false;
        }
    }

    private sealed class KilledException : Exception;

    private sealed class FakeFiles(Guid configured) : IReformatFiles
    {
        public Dictionary<string, Guid> Folders { get; } = new() { [Folder] = s_old };

        public Guid Configured { get; private set; } = configured;

        public int StepsLeft { get; set; }

        public Guid? IdentityOf(string folder) => Folders.TryGetValue(folder, out var id) ? id : null;

        public bool HasKept(string folder) =>
            Folders.Keys.Any(path => path != folder && path.StartsWith(folder, StringComparison.Ordinal));

        public void Rename(string from, string to)
        {
            Step();
            Assert.False(Folders.ContainsKey(to));
            Folders.Remove(from, out var id);
            Folders.Add(to, id);
        }

        public void Format(string folder, Guid id)
        {
            Step();
            Folders.Add(folder, id);
        }

        public void Configure(Guid old, Guid id)
        {
            Step();
            Assert.Equal(Configured, old);
            Configured = id;
        }

        private void Step()
        {
            if (StepsLeft-- == 0) throw new KilledException();
        }
    }
}
