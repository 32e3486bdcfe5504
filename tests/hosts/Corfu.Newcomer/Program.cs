using Corfu.Newcomer;

// packages FOLDER: checks what a user sees of the packages there, and prints their version.
// extract FOLDER PAGE...: writes the programs that the pages show.
// call URL: uses the tutorial's service.
List<string> faults;
switch (args)
{
    case ["packages", var folder]:
        faults = PackageCheck.Run(folder, out var version);
        if (faults.Count == 0) Console.WriteLine(version);
        break;
    case ["extract", var folder, .. var pages]:
        faults = Snippets.Extract(pages, folder);
        break;
    case ["call", var url]:
        faults = await ServiceCalls.RunAsync(new Uri(url));
        break;
    default:
        faults = ["usage: packages FOLDER | extract FOLDER PAGE... | call URL"];
        break;
}

foreach (var fault in faults) Console.Error.WriteLine(fault);
return faults.Count == 0 ? 0 : 1;
