using System.IO.Compression;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Corfu.Newcomer;

/// <summary>Parts that every package of the folder must have, and a package for clients must not.</summary>
internal static class PackageCheck
{
    // Programs that only use a cluster reference these, alone or together.
    private static readonly string[] s_forClients =
    [
        "Corfu.Abstractions", "Corfu.Client", "Corfu.Extensions", "Corfu.Grpc.Client", "Craq.Client", "Salus.Client",
        "Corfu.StateMachines", "Corfu.Store", "Tango", "Tango.Ledgers", "Tango.Testing", "Tango.ZooKeeper",
    ];

    private static readonly string[] s_forServers =
    [
        "Corfu.Hosting", "Corfu.Cli", "Corfu.Grpc", "Corfu.Orleans", "Corfu.Orleans.Journaling",
        "Corfu.Etcd", "Corfu.ZooKeeper", "Craq.Hosting", "Salus.Hosting",
    ];

    private static readonly string[] s_others = ["Corfu.Templates"];

    private static readonly Guid s_sourceLink = new("CC110556-A091-4D38-9FEC-25AB9A351A6A");

    public static List<string> Run(string folder, out string version)
    {
        var faults = new List<string>();
        var packages = Directory.GetFiles(folder, "*.nupkg").Order().Select(path => new Package(path)).ToList();
        version = packages.Count > 0 ? packages[0].Value("version") : "";
        var ids = packages.Select(package => package.Id);
        foreach (var id in s_forClients.Concat(s_forServers).Concat(s_others).Except(ids))
            faults.Add($"{id}: there is no package.");
        foreach (var package in packages) Check(package, version, faults);
        return faults;
    }

    private static void Check(Package package, string version, List<string> faults)
    {
        if (package.Value("version") != version) Fault($"it has another version than {version}");
        foreach (var name in (string[])["description", "tags", "releaseNotes", "projectUrl", "authors", "copyright"])
        {
            if (package.Value(name) is "" or "Package Description") Fault($"it has no {name}");
        }

        if (package.Value("license") != "MIT") Fault("its licence is not MIT");
        var repository = package.Element("repository");
        if (repository?.Attribute("url")?.Value is not { } url) Fault("it names no repository");
        else if (repository.Attribute("commit")?.Value is not { Length: 40 }) Fault("it names no commit");
        else CheckReadme(url);
        if (!package.Files.Contains(package.Value("icon"))) Fault("it has no icon");
        CheckAssemblies();
        CheckPortable();
        if (package.Id == "Corfu.Cli") CheckMachineCode();
        if (!s_others.Contains(package.Id)) CheckSymbols();
        foreach (var assembly in new[] { "Tango.Generators.dll", "Tango.Generators.CodeFixes.dll" })
        {
            if (package.Id == "Tango" && !package.Files.Contains($"analyzers/dotnet/cs/{assembly}"))
                Fault($"it has no {assembly}");
        }

        if (s_forClients.Contains(package.Id)) CheckClient();
        else if (!s_forServers.Contains(package.Id) && !s_others.Contains(package.Id)) Fault("it is not known here");
        return;

        void Fault(string text) => faults.Add($"{package.Id}: {text}.");

        void CheckReadme(string url)
        {
            var readme = package.Value("readme");
            if (!package.Files.Contains(readme))
            {
                Fault("it has no README");
                return;
            }

            var text = package.Read(readme);
            if (!text.StartsWith($"# {package.Id}\n", StringComparison.Ordinal)) Fault("its README is of another one");
            if (!text.Contains($"]({url})", StringComparison.Ordinal)) Fault($"its README does not link to {url}");
            foreach (Match link in Regex.Matches(text, @"\]\(([^)]*)\)"))
            {
                if (!link.Groups[1].Value.StartsWith(url, StringComparison.Ordinal))
                    Fault($"its README links to {link.Groups[1].Value}, which is not below {url}");
            }
        }

        void CheckAssemblies()
        {
            if (s_forClients.Concat(s_forServers).Contains(package.Id) && !package.Assemblies.Any())
                Fault("it has no assembly");
            foreach (var assembly in package.Assemblies)
            {
                var documentation = Path.ChangeExtension(assembly, ".xml");
                if (!package.Files.Contains(documentation))
                {
                    Fault($"{assembly} has no documentation");
                    continue;
                }

                using Stream code = package.Open(assembly), texts = package.Open(documentation);
                foreach (var fault in Documentation.RuleNumbers(code, texts)) Fault(fault);
            }
        }

        // Code of the machine that packs has a folder with that machine's name, and never one that other machines use.
        void CheckPortable()
        {
            foreach (var file in package.Files.Where(IsPortableAssembly).Where(HasMachineCode))
                Fault($"{file} has machine code");
        }

        bool HasMachineCode(string file)
        {
            using var image = new PEReader(package.Open(file));
            return image.PEHeaders.CorHeader!.ManagedNativeHeaderDirectory.Size > 0;
        }

        // Beside the assemblies for any machine stand the same ones with machine code, for the machine that packs.
        void CheckMachineCode()
        {
            var folders = package.Files.Where(static file => file.StartsWith("tools/", StringComparison.Ordinal))
                .ToLookup(static file => file[..(file.LastIndexOf('/') + 1)], static file => Path.GetFileName(file));
            var any = folders.Single(static folder => folder.Key.EndsWith("/any/", StringComparison.Ordinal));
            if (folders.Where(folder => folder != any).ToList() is not [var machine])
            {
                Fault($"it has {folders.Count - 1} folders with machine code");
                return;
            }

            foreach (var file in any.Except(machine)) Fault($"{machine.Key} lacks {file}");
            foreach (var file in machine.Except(any)) Fault($"{any.Key} lacks {file}");
            foreach (var file in machine.Where(static file => Path.GetExtension(file) == ".dll"))
            {
                if (!HasMachineCode(machine.Key + file)) Fault($"{machine.Key}{file} has no machine code");
            }
        }

        void CheckSymbols()
        {
            var path = Path.ChangeExtension(package.Path, ".snupkg");
            if (!File.Exists(path))
            {
                Fault("it has no symbols");
                return;
            }

            using var symbols = ZipFile.OpenRead(path);
            foreach (var assembly in package.Assemblies)
            {
                var name = Path.GetFileNameWithoutExtension(assembly) + ".pdb";
                var file = symbols.Entries.FirstOrDefault(entry => entry.Name == name);
                if (file is null) Fault($"its symbols lack {name}");
                else if (!HasSourceLink(file)) Fault($"{name} does not say where the sources are");
            }
        }

        // A client's machine has no ASP.NET runtime, and needs no server.
        void CheckClient()
        {
            if (package.Element("frameworkReferences") is not null) Fault("it needs a shared framework");
            foreach (var id in package.Dependencies.Where(id =>
                s_forServers.Contains(id) || id.StartsWith("Microsoft.AspNetCore", StringComparison.Ordinal)))
                Fault($"it depends on {id}");
        }
    }

    // Any machine loads these: libraries, analyzers, and a tool where no folder is for that machine.
    private static bool IsPortableAssembly(string file) => Path.GetExtension(file) == ".dll"
        && (!file.StartsWith("tools/", StringComparison.Ordinal) || file.Contains("/any/", StringComparison.Ordinal));

    // Source link is debug information of its own kind in a portable PDB: a JSON text of places and addresses.
    private static bool HasSourceLink(ZipArchiveEntry file)
    {
        using var content = Package.Open(file);
        using var provider = MetadataReaderProvider.FromPortablePdbStream(content);
        var reader = provider.GetMetadataReader();
        return reader.CustomDebugInformation.Select(reader.GetCustomDebugInformation)
            .Where(information => reader.GetGuid(information.Kind) == s_sourceLink)
            .Any(information => Encoding.UTF8.GetString(reader.GetBlobBytes(information.Value)).Contains("https://"));
    }

    /// <summary>A package file, with its description (.nuspec).</summary>
    private sealed class Package
    {
        private readonly XElement _metadata;

        public Package(string path)
        {
            Path = path;
            using var archive = ZipFile.OpenRead(path);
            Files = [.. archive.Entries.Select(entry => entry.FullName)];
            var description = Files.Single(name => System.IO.Path.GetExtension(name) == ".nuspec");
            using var text = archive.GetEntry(description)!.Open();
            _metadata = XDocument.Load(text).Root!.Elements().Single(element => element.Name.LocalName == "metadata");
        }

        public string Path { get; }

        public HashSet<string> Files { get; }

        public string Id => Value("id");

        /// <summary>The project's assemblies: a tool brings others along.</summary>
        public IEnumerable<string> Assemblies => Id == "Corfu.Cli"
            ? Files.Where(file => file.EndsWith("/corfu.dll", StringComparison.Ordinal))
            : Files.Where(file => file.StartsWith("lib/", StringComparison.Ordinal)
                && file.EndsWith(".dll", StringComparison.Ordinal));

        public IEnumerable<string> Dependencies => _metadata.Descendants()
            .Where(element => element.Name.LocalName == "dependency")
            .Select(element => element.Attribute("id")!.Value);

        public XElement? Element(string name) =>
            _metadata.Elements().FirstOrDefault(element => element.Name.LocalName == name);

        public string Value(string name) => Element(name)?.Value.Trim() ?? "";

        public string Read(string name)
        {
            using var reader = new StreamReader(Open(name));
            return reader.ReadToEnd();
        }

        /// <summary>A file of the package, in memory.</summary>
        public Stream Open(string name)
        {
            using var archive = ZipFile.OpenRead(Path);
            return Open(archive.GetEntry(name)!);
        }

        public static Stream Open(ZipArchiveEntry file)
        {
            var content = new MemoryStream();
            using (var stream = file.Open()) stream.CopyTo(content);
            content.Position = 0;
            return content;
        }
    }
}
